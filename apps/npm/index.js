// The programs as functions on files in memory, for node, browsers and workers.
import createNnsuite from './nnsuite-web.js';
import { runProgram } from './run.js';

let compiled;

// The module is compiled once, when it is first needed.
function compiledModule() {
  compiled ??= compile(new URL('nnsuite.wasm', import.meta.url));
  return compiled;
}
async function compile(url) {
  if (url.protocol !== 'file:') return WebAssembly.compileStreaming(fetch(url));
  const { readFile } = await import('node:fs/promises');
  globalThis.crypto ??= (await import('node:crypto')).webcrypto; // node 18 does not define it
  return WebAssembly.compile(await readFile(url));
}

// An error of a program: its message, and its exit code as `code`.
export class NnsuiteError extends Error {
  constructor({ code, stderr }) {
    super(stderr.trim());
    this.name = 'NnsuiteError';
    this.code = code;
  }
}

export async function run(program, args, files = {}) {
  return runProgram(createNnsuite, await compiledModule(), program, args, files);
}

// Runs a program whose exit codes above 1 are errors.
async function checked(program, args, files) {
  const result = await run(program, args, files);
  if (result.code > 1) throw new NnsuiteError(result);
  return result;
}

export async function inspect(model, files, args = []) {
  const { stdout } =
      await checked('nninspect', [model, '--format', 'json', ...args], files);
  return JSON.parse(stdout);
}

export async function validate(model, files, args = []) {
  const { stdout } = await checked('nnvalidate', [model, '--format', 'json', ...args], files);
  return JSON.parse(stdout);
}

export async function convert(model, output, files, args = []) {
  const result = await checked('nnconvert', [model, output, ...args], files);
  if (result.code !== 0) throw new NnsuiteError(result);
  return result.files;
}
