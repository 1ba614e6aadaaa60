// Runs programs of the suite on files in memory; part of the page's worker and of the npm package.

const FOLDER = '/models'; // the current folder of every program

// The bytes that a program prints.
class Output {
  #bytes = new Uint8Array(4096);
  #size = 0;

  add(byte) {
    if (byte === null) return;
    if (this.#size === this.#bytes.length) {
      const larger = new Uint8Array(2 * this.#size);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#size++] = byte;
  }
  text() {
    return new TextDecoder().decode(this.#bytes.subarray(0, this.#size));
  }
}

// Calls fn(path, node) for every file below a folder.
function eachFile(FS, folder, fn) {
  for (const name of FS.readdir(folder)) {
    if (name === '.' || name === '..') continue;
    const path = `${folder}/${name}`;
    const { node } = FS.lookupPath(path, { follow: false });
    if (FS.isDir(node.mode)) eachFile(FS, path, fn);
    else if (FS.isFile(node.mode)) fn(path, node);
  }
}

// Runs a program ("nninspect", "nnvalidate", "nnconvert" or "nnrun") in an instance of the module of
// its own, as a process would be: nothing remains in memory. `files` maps paths to bytes. The result
// has the exit code, what was printed, and the files that the program wrote.
async function runProgram(create, module, program, args, files = {}) {
  const out = new Output(), err = new Output();
  const instance = await create({
    instantiateWasm(imports, receive) {
      WebAssembly.instantiate(module, imports).then((made) => receive(made, module));
      return {};
    },
    stdin: () => null,
    stdout: (byte) => out.add(byte),
    stderr: (byte) => err.add(byte),
  });
  const { FS } = instance;
  FS.mkdir(FOLDER);
  for (const [path, bytes] of Object.entries(files)) {
    const slash = path.lastIndexOf('/');
    if (slash > 0) FS.mkdirTree(`${FOLDER}/${path.slice(0, slash)}`);
    FS.writeFile(`${FOLDER}/${path}`, bytes, { canOwn: true });
  }
  FS.chdir(FOLDER);
  const given = new Set();
  eachFile(FS, FOLDER, (path, node) => given.add(node));
  let code, failure = '';
  try {
    code = instance.callMain([program, ...args]);
  } catch (error) {
    code = 134; // as a process that is aborted
    failure = `${program}: error: internal error: ${error.message ?? error}\n`;
  }
  const written = {};
  eachFile(FS, FOLDER, (path, node) => {
    if (!given.has(node)) written[path.slice(FOLDER.length + 1)] = FS.readFile(path);
  });
  return { code, stdout: out.text(), stderr: err.text() + failure, files: written };
}
