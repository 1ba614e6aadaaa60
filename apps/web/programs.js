// The programs in a worker, and what each view of a model calls.

// "golden/cnn.onnx" is "cnn".
function stemOf(path) {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '');
}

// Words of a line: quotes keep spaces, as in a shell.
function wordsOf(line) {
  const words = [];
  for (const [, double, single, plain] of line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g))
    words.push(double ?? single ?? plain);
  return words;
}

function shellWord(word) {
  return /^[\w@%+=:,.\/#-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

// A view calls its program with args(o), where `o` has the model, the stem of its name, the seed, the
// target format and the words of the options. A download adds its own words, and is the file that
// they name.
const VIEWS = [
  {
    name: 'Summary', program: 'nninspect', args: (o) => [o.model, ...o.words],
    downloads: [
      { name: 'Text', file: (o) => `${o.stem}.summary.txt`, args: (file) => ['-o', file] },
      { name: 'JSON', file: (o) => `${o.stem}.summary.json`,
        args: (file) => ['--format', 'json', '-o', file] },
      { name: 'Bill of materials', file: (o) => `${o.stem}.cdx.json`,
        args: (file) => ['--format', 'cyclonedx', '-o', file] },
    ],
  },
  {
    name: 'Graph', program: 'nninspect', args: (o) => [o.model, ...o.words], page: true,
    downloads: [
      { name: 'Page', file: (o) => `${o.stem}.html`,
        args: (file) => ['--format', 'html', '-o', file] },
      { name: 'SVG', file: (o) => `${o.stem}.svg`, args: (file) => ['--format', 'svg', '-o', file] },
    ],
  },
  {
    name: 'Findings', program: 'nnvalidate', args: (o) => [o.model, ...o.words],
    downloads: [
      { name: 'Text', file: (o) => `${o.stem}.findings.txt`, args: (file) => ['-o', file] },
      { name: 'JSON', file: (o) => `${o.stem}.findings.json`,
        args: (file) => ['--format', 'json', '-o', file] },
      { name: 'SARIF', file: (o) => `${o.stem}.sarif`,
        args: (file) => ['--format', 'sarif', '-o', file] },
    ],
  },
  {
    name: 'Cost', program: 'nninspect', args: (o) => [o.model, '--cost', ...o.words],
    downloads: [
      { name: 'CSV', file: (o) => `${o.stem}.cost.csv`,
        args: (file) => ['--format', 'csv', '-o', file] },
      { name: 'JSON', file: (o) => `${o.stem}.cost.json`,
        args: (file) => ['--format', 'json', '-o', file] },
    ],
  },
  {
    name: 'Run', program: 'nnrun', args: (o) => [o.model, '--seed', o.seed, ...o.words],
    downloads: [
      { name: 'Outputs (.npz)', file: (o) => `${o.stem}.outputs.npz`, args: (file) => ['-o', file] },
      { name: 'Outputs (.json)', file: (o) => `${o.stem}.outputs.json`,
        args: (file) => ['-o', file] },
    ],
  },
  {
    name: 'Convert', program: 'nnconvert', args: (o) => [o.model, convertedOf(o), ...o.words],
    downloads: [{ name: 'Converted model', file: convertedOf, args: () => [] }],
  },
];

// Never the name of the model itself, which may be in a folder.
function convertedOf(o) {
  const file = o.stem + o.target;
  return file === o.model ? `${o.stem}.converted${o.target}` : file;
}

class Programs {
  #worker;
  #calls = new Map();
  #last = 0;

  constructor(source, module) {
    this.#worker = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
    this.#worker.onmessage = ({ data }) => {
      const { resolve, reject } = this.#calls.get(data.id);
      this.#calls.delete(data.id);
      if (data.error === undefined) resolve(data.result);
      else reject(new Error(data.error));
    };
    this.ready = this.#send({ module });
  }
  open(files) {
    return this.#send({ files });
  }
  run(program, args) {
    return this.#send({ program, args });
  }
  #send(request) {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      this.#calls.set(id, { resolve, reject });
      this.#worker.postMessage({ id, ...request });
    });
  }
}
