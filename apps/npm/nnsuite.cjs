#!/usr/bin/env node
// nnsuite inspect|validate|convert|run ...: the programs, on the files of the machine.
'use strict';

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { isatty } = require('node:tty');
const createNnsuite = require('./nnsuite-node.cjs');

const PROGRAMS = ['inspect', 'validate', 'convert', 'run'];

const [name, ...args] = process.argv.slice(2);
if (!PROGRAMS.includes(name)) {
  process.stderr.write(`usage: nnsuite ${PROGRAMS.join('|')} ...\n`);
  process.exit(2);
}
const wasmBinary = readFileSync(join(__dirname, 'nnsuite.wasm'));
createNnsuite({ wasmBinary }).then((instance) => {
  // Emscripten takes the standard streams for terminals.
  for (const fd of [0, 1, 2]) instance.FS.streams[fd].tty = isatty(fd);
  process.exitCode = instance.callMain([`nn${name}`, ...args]);
});
