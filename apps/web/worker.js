// The page's worker: keeps the module and the opened files, and runs one program after the other.

let module = null;
let files = {};

// The module is embedded in the page as base64 of its gzip file.
async function compile(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

async function handle(request) {
  if (request.module) module = compile(request.module);
  if (request.files) files = request.files;
  if (!request.program) return await module && {};
  const begin = performance.now();
  const result =
      await runProgram(createNnsuite, await module, request.program, request.args, files);
  return { ...result, milliseconds: performance.now() - begin };
}

onmessage = async ({ data }) => {
  try {
    const result = await handle(data);
    const bytes = Object.values(result.files ?? {}).map((b) => b.buffer);
    postMessage({ id: data.id, result }, bytes);
  } catch (error) {
    postMessage({ id: data.id, error: String(error.message ?? error) });
  }
};
