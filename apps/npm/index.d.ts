/** Programs of the suite. */
export type Program = 'nninspect' | 'nnvalidate' | 'nnconvert' | 'nnrun';

/** Paths, relative to the current folder of the program, and bytes. */
export type Files = Record<string, Uint8Array>;

/** What a program did. */
export interface Result {
  /** 0: success; 1: the model fails the check; 2: usage, file or parse error; 3: unsupported; 4: limit. */
  code: number;
  stdout: string;
  stderr: string;
  /** The files that the program wrote. */
  files: Files;
}

/** A program ended with an error; `message` is what it printed. */
export class NnsuiteError extends Error {
  code: number;
}

/** Runs a program with the arguments of its command line on files in memory. */
export function run(program: Program, args: string[], files?: Files): Promise<Result>;

/** The JSON report of nninspect about the file `model` of `files`. */
export function inspect(model: string, files: Files, args?: string[]): Promise<Record<string, unknown>>;

/** The JSON report of nnvalidate. */
export function validate(model: string, files: Files, args?: string[]): Promise<Record<string, unknown>>;

/** Converts `model` to `output`, whose extension determines the format; resolves to the written files. */
export function convert(model: string, output: string, files: Files, args?: string[]): Promise<Files>;
