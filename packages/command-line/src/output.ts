import { printable, printableLines } from './printable.ts'
import { Progress } from './progress.ts'
import { Terminal } from './terminal.ts'

type Streams = { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream }

/** A result: `json` is the `data` of the API, which `--json` prints. `text` is for people. */
type Result = { json: unknown; text: string }

/** Where a command writes: its result on standard output, everything else on standard error. */
export class Output {
  /** Whether the command was called with `--json`. */
  readonly json: boolean
  readonly #quiet: boolean
  readonly #stdout: NodeJS.WriteStream
  readonly #stderr: NodeJS.WriteStream
  readonly #terminal: Terminal | null

  constructor(
    { stdout, stderr }: Streams,
    { json, quiet, env }: { json: boolean; quiet: boolean; env: NodeJS.ProcessEnv },
  ) {
    this.json = json
    this.#quiet = quiet
    this.#stdout = stdout
    this.#stderr = stderr
    this.#terminal = stderr.isTTY && !quiet && env.TERM !== 'dumb' ? new Terminal(stderr) : null
  }

  /** Prints the result: one JSON document with `--json`, otherwise the text. */
  print({ json, text }: Result): void {
    this.write(this.json ? JSON.stringify(json) : printableLines(text))
  }

  /** Writes lines on standard output as they are. */
  write(text: string): void {
    if (text !== '') this.#stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** The width of the terminal that standard output is; null if it is none. */
  get columns(): number | null {
    return this.#stdout.isTTY ? this.#stdout.columns || COLUMNS : null
  }

  /** Says what happens, in one line on standard error. `--quiet` turns it off. */
  say(line: string): void {
    if (!this.#quiet) this.warn(line)
  }

  /** Says something that `--quiet` does not turn off, in one line on standard error. */
  warn(line: string): void {
    if (this.#terminal) this.#terminal.writeLine(printable(line))
    else this.#stderr.write(`${printable(line)}\n`)
  }

  /** Shows how far files are sent: as bars on a terminal, otherwise as lines. Call `end` on it. */
  progress(): Progress {
    return new Progress(this.#terminal, (line) => this.say(line))
  }
}

/** The width of a terminal that does not tell its own. */
const COLUMNS = 80
