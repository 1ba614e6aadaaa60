// Times a model: validation in memory, as the page does it, and a run beside the native SSE4 code, on
// one thread each.
//
//   node time.mjs MODULES PROGRAMS MODEL
import { execFileSync } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

globalThis.crypto ??= webcrypto; // node 18 does not define it
const [modules, programs, model] = process.argv.slice(2).map((path) => resolve(path));
const work = mkdtempSync(join(tmpdir(), 'nnsuite-'));
try {
  const source = readFileSync(new URL('../../apps/web/run.js', import.meta.url), 'utf8');
  writeFileSync(join(work, 'run.cjs'), source + 'module.exports = { runProgram };\n');
  const require = createRequire(import.meta.url);
  const { runProgram } = require(join(work, 'run.cjs'));
  const create = require(join(modules, 'nnsuite-web.js'));
  const module = await WebAssembly.compile(readFileSync(join(modules, 'nnsuite.wasm')));

  const name = basename(model), files = { [name]: readFileSync(model) };
  const times = [];
  for (let i = 0; i < 7; ++i) {
    const begin = performance.now();
    const { code, stderr } = await runProgram(create, module, 'nnvalidate', [name], files);
    times.push(performance.now() - begin);
    if (code > 1) throw new Error(stderr);
  }
  console.log(`validate ${name}: first ${times[0].toFixed(0)} ms, ` +
              `best of ${times.length} ${Math.min(...times).toFixed(0)} ms`);

  const bench = [name, '--seed', '1', '--bench', '--threads', '1', '--format', 'json'];
  const { code, stdout, stderr } = await runProgram(create, module, 'nnrun', bench, files);
  if (code !== 0) throw new Error(stderr);
  const wasm = JSON.parse(stdout);
  const native = JSON.parse(execFileSync(
      join(programs, 'nnrun'), [model, ...bench.slice(1), '--target', 'SSE4'], { encoding: 'utf8' }));
  // The best run is the one that other programs disturb least.
  const [ours, theirs] = [wasm, native].map((report) => report.latency_ms.min);
  console.log(`run ${name}, best of ${wasm.runs}: ${wasm.target} ${ours.toFixed(1)} ms, native ` +
              `${native.target} ${theirs.toFixed(1)} ms, ratio ${(ours / theirs).toFixed(2)}`);
} finally {
  rmSync(work, { recursive: true });
}
