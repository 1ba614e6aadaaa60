// Makes the page: one file with its styles, its scripts, the worker and the module.
//
//   node assemble.mjs GLUE WASM OUTPUT
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const [glue, wasm, output] = process.argv.slice(2);
const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');

// Text of a script element that is not run.
function data(id, text) {
  if (/<\/script/i.test(text)) throw new Error(`${id} contains the end of a script element`);
  return `<script type="text/plain" id="${id}">${text}</script>\n`;
}

const worker = readFileSync(glue, 'utf8') + read('run.js') + read('worker.js');
const module = gzipSync(readFileSync(wasm), { level: 9 }).toString('base64');
const policy = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; " +
    "worker-src blob:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'";
writeFileSync(output, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>nnsuite: neural-network models in the browser</title>
<style>
${read('page.css')}</style>
</head>
<body>
${read('page.html')}${data('worker', worker)}${data('module', module)}<script>
${read('programs.js')}${read('page.js')}</script>
</body>
</html>
`);
