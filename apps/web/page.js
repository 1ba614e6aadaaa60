// The page: opens files, shows a view of a model, and downloads what programs write.

const MODEL = /\.(onnx|tflite|lite|mlmodel|mlpackage|nnapi|json)$/i;

class Page {
  constructor(programs) {
    this.programs = programs;
    this.view = VIEWS[0];
    this.call = 0; // the number of the last call: results of earlier ones are dropped
    this.options = new Map(); // the options that were typed, by view
    this.makeTabs();
    this.connect();
    programs.ready.then(
        () => this.say('Ready.'), (error) => this.fail(`The programs cannot be loaded: ${error.message}`));
  }

  get(id) {
    return document.getElementById(id);
  }
  say(text) {
    this.get('status').textContent = text;
    this.get('status').classList.remove('failed');
  }
  fail(text) {
    this.say(text);
    this.get('status').classList.add('failed');
  }

  makeTabs() {
    for (const view of VIEWS) {
      const tab = document.createElement('button');
      tab.type = 'button';
      tab.id = `tab-${view.name.toLowerCase()}`;
      tab.setAttribute('role', 'tab');
      tab.setAttribute('aria-controls', 'view');
      tab.textContent = view.name;
      tab.addEventListener('click', () => this.select(view));
      this.get('tabs').append(tab);
    }
    this.get('tabs').addEventListener('keydown', (event) => this.moveTab(event));
    this.showTabs();
  }
  // Arrow keys, Home and End move between tabs; Tab leaves them.
  moveTab(event) {
    const at = VIEWS.indexOf(this.view), last = VIEWS.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1,
                 Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.select(VIEWS[to]);
    this.get('tabs').children[to].focus();
  }
  showTabs() {
    for (const [i, tab] of [...this.get('tabs').children].entries()) {
      const selected = VIEWS[i] === this.view;
      tab.setAttribute('aria-selected', selected);
      tab.tabIndex = selected ? 0 : -1;
      if (selected) this.get('view').setAttribute('aria-labelledby', tab.id);
    }
  }

  connect() {
    const file = this.get('file'), folder = this.get('folder-file'), open = this.get('open');
    const take = (input, pathOf) => {
      const found = [...input.files].map((f) => [pathOf(f), f]);
      input.value = ''; // the same files can be opened again
      this.open(found);
    };
    file.addEventListener('change', () => take(file, (f) => f.name));
    this.get('folder').addEventListener('click', () => folder.click());
    folder.addEventListener('change', () => take(folder, (f) => f.webkitRelativePath));
    for (const type of ['dragover', 'dragleave', 'drop'])
      document.addEventListener(type, (event) => {
        event.preventDefault();
        open.classList.toggle('over', type === 'dragover');
        if (type === 'drop') this.openDropped(event.dataTransfer);
      });
    this.get('model').addEventListener('change', () => this.start());
    this.get('form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.show();
    });
    this.get('help').addEventListener('click', () => this.showHelp());
  }

  // Dropped folders are read, too: a package of Core ML is one.
  async openDropped(transfer) {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    const found = [];
    const add = async (entry) => {
      if (entry.isFile) {
        const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
        found.push([entry.fullPath.slice(1), file]);
        return;
      }
      const reader = entry.createReader();
      for (;;) { // which gives some entries at a time
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (some.length === 0) return;
        for (const child of some) await add(child);
      }
    };
    for (const entry of entries) await add(entry);
    this.open(found);
  }

  // Opens pairs of a path and a File.
  async open(found) {
    if (found.length === 0) return;
    try {
      this.say('Reading…');
      const files = {};
      for (const [path, file] of found) files[path] = new Uint8Array(await file.arrayBuffer());
      await this.programs.open(files);
    } catch (error) {
      return this.fail(`The files cannot be read: ${error.message}`);
    }
    // A package is a folder; of other names, those of models come first.
    const packages = found.map(([path]) => path.match(/^(.*?\.mlpackage)\//i)?.[1]);
    const paths = [...new Set(found.map(([path], i) => packages[i] ?? path))];
    paths.sort((a, b) => MODEL.test(b) - MODEL.test(a));
    this.get('model').replaceChildren(...paths.map((path) => new Option(path)));
    this.get('model-choice').hidden = paths.length === 1;
    this.start();
  }
  start() {
    this.get('work').hidden = false;
    this.options.clear();
    this.select(VIEWS[0]);
  }

  select(view) {
    this.options.set(this.view, this.get('options').value);
    this.view = view;
    this.get('options').value = this.options.get(view) ?? '';
    this.showTabs();
    this.get('target-choice').hidden = view.name !== 'Convert';
    this.get('seed-choice').hidden = view.name !== 'Run';
    this.get('run').textContent = view.name === 'Convert' ? 'Convert' : 'Run';
    this.get('downloads').replaceChildren(...view.downloads.map((download) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = `Download ${download.name}`;
      button.addEventListener('click', () => this.download(download));
      return button;
    }));
    // A conversion starts when its format is chosen.
    if (view.name === 'Convert') {
      ++this.call;
      this.clear();
      this.say('Choose a format.');
    } else {
      this.show();
    }
  }

  current() {
    const model = this.get('model').value;
    return { model, stem: stemOf(model), seed: this.get('seed').value, target: this.get('target').value,
             words: wordsOf(this.get('options').value) };
  }
  clear() {
    for (const id of ['command', 'errors', 'text']) this.get(id).textContent = '';
    this.get('errors').hidden = true;
    this.get('graph').hidden = true;
  }

  // Runs the program of the view; undefined if another call has begun meanwhile.
  async run(args, shown = args) {
    const call = ++this.call;
    const { program } = this.view;
    this.get('command').textContent = [program, ...shown].map(shellWord).join(' ');
    this.say(`${program} is running…`);
    this.get('view').setAttribute('aria-busy', true);
    try {
      const result = await this.programs.run(program, args);
      if (call !== this.call) return undefined;
      this.get('errors').textContent = result.stderr;
      this.get('errors').hidden = result.stderr === '';
      const time = `${program}: exit code ${result.code}, ${Math.round(result.milliseconds)} ms`;
      if (result.code > 1) this.fail(time);
      else this.say(time);
      return result;
    } catch (error) {
      if (call === this.call) this.fail(`${program}: ${error.message}`);
      return undefined;
    } finally {
      if (call === this.call) this.get('view').setAttribute('aria-busy', false);
    }
  }

  async show() {
    const o = this.current(), args = this.view.args(o);
    this.clear();
    if (!this.view.page) {
      const result = await this.run(args);
      if (result) this.get('text').textContent = result.stdout;
      return;
    }
    const [page] = this.view.downloads;
    const file = page.file(o);
    const result = await this.run([...args, ...page.args(file)]);
    if (result?.files[file] === undefined) return;
    // Laid out before it loads, since the graph is fitted into the frame.
    const graph = this.get('graph');
    graph.hidden = false;
    await new Promise((resolve) => new ResizeObserver(resolve).observe(graph));
    graph.srcdoc = new TextDecoder().decode(result.files[file]);
  }
  async showHelp() {
    this.clear();
    const result = await this.run(['--help']);
    if (result) this.get('text').textContent = result.stdout;
  }

  async download(download) {
    const o = this.current(), file = download.file(o);
    const result = await this.run([...this.view.args(o), ...download.args(file)]);
    if (result === undefined) return;
    for (const [path, bytes] of Object.entries(result.files)) {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([bytes]));
      link.download = path.slice(path.lastIndexOf('/') + 1);
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }
  }
}

new Page(new Programs(document.getElementById('worker').textContent,
                      document.getElementById('module').textContent));
