import { printable } from './printable.ts'
import type { Terminal } from './terminal.ts'

/** Shows how far files are sent: one bar for each file that is being sent, and a total. */
export class Progress {
  readonly #terminal: Terminal | null
  readonly #say: (line: string) => void
  readonly #bars: ProgressBar[] = []
  #drawnAt = Number.NEGATIVE_INFINITY
  #nextFrame: NodeJS.Timeout | undefined

  constructor(terminal: Terminal | null, say: (line: string) => void) {
    this.#terminal = terminal
    this.#say = say
  }

  /** Adds a file. Its bar appears when its first bytes are sent. */
  add(name: string, size: number): ProgressBar {
    const bar = new ProgressBar(printable(name), size, {
      moved: () => this.#moved(bar),
      finished: (line) => this.#finished(line),
    })
    this.#bars.push(bar)
    return bar
  }

  /** Ends the display. Call it also when the command fails or is interrupted. */
  end(): void {
    clearTimeout(this.#nextFrame)
    this.#terminal?.keepBlock()
  }

  #moved(bar: ProgressBar): void {
    if (this.#terminal === null) bar.sayEvery(LINE_EVERY_MS, performance.now(), this.#say)
    else this.#drawSoon(this.#terminal)
  }

  /** Draws at most one frame in `FRAME_MS`. The last move is always shown. */
  #drawSoon(terminal: Terminal): void {
    const pauseMs = this.#drawnAt + FRAME_MS - performance.now()
    if (pauseMs <= 0) this.#draw(terminal)
    else this.#nextFrame ??= setTimeout(() => this.#draw(terminal), pauseMs).unref()
  }

  /** A finished file is a line that stays, so that the bars never fill more than a screen. */
  #finished(line: string): void {
    this.#say(line)
    if (this.#terminal) this.#draw(this.#terminal)
  }

  #draw(terminal: Terminal): void {
    clearTimeout(this.#nextFrame)
    this.#nextFrame = undefined
    this.#drawnAt = performance.now()
    const active = this.#bars.filter((bar) => bar.isActive)
    const lines = active.map((bar) => barLine(bar, terminal.width))
    if (this.#bars.length > 1 && active.length > 0) lines.push(barLine(this.#total(), terminal.width))
    terminal.showBlock(lines)
  }

  #total(): Shown {
    const sum = (of: (bar: ProgressBar) => number) => this.#bars.reduce((total, bar) => total + of(bar), 0)
    const ended = this.#bars.filter((bar) => bar.isFinished).length
    const name = `total (${ended} of ${this.#bars.length} files)`
    return { name, sent: sum((bar) => bar.sent), size: sum((bar) => bar.size) }
  }
}

const FRAME_MS = 80
/** Without a terminal, a file that takes long says how far it is. */
const LINE_EVERY_MS = 10_000

type Shown = { name: string; sent: number; size: number }
type Listener = { moved: () => void; finished: (line: string) => void }

/** How far one file is sent. */
export class ProgressBar implements Shown {
  readonly name: string
  readonly size: number
  readonly #listener: Listener
  #sent = 0
  #saidAt = performance.now()
  isFinished = false

  constructor(name: string, size: number, listener: Listener) {
    this.name = name
    this.size = size
    this.#listener = listener
  }

  get sent(): number {
    return this.#sent
  }

  get isActive(): boolean {
    return this.#sent > 0 && !this.isFinished
  }

  /** A repeated PUT starts again with fewer bytes. */
  to(sent: number): void {
    this.#sent = Math.min(sent, this.size)
    this.#listener.moved()
  }

  /** The file needs no bar any more. `line` says what became of it. */
  finish(line: string): void {
    if (this.isFinished) return
    this.isFinished = true
    this.#sent = this.size
    this.#listener.finished(line)
  }

  sayEvery(ms: number, now: number, say: (line: string) => void): void {
    if (now - this.#saidAt < ms) return
    this.#saidAt = now
    say(`${this.name}: ${percent(this)} of ${formatBytes(this.size)} sent`)
  }
}

const BAR_WIDTH_MAX = 30
const NAME_WIDTH_MAX = 40

/** The bar gets what the name and the figures leave. A narrow terminal shows only the percentage. */
function barLine(shown: Shown, width: number): string {
  const figures = `${percent(shown)} of ${formatBytes(shown.size)}`.padStart(FIGURES_WIDTH)
  const nameWidth = Math.min(NAME_WIDTH_MAX, Math.floor(width / 3))
  const barWidth = Math.min(BAR_WIDTH_MAX, width - nameWidth - figures.length - 4)
  if (barWidth < 5) return `${percent(shown).padStart(4)} ${shorten(shown.name, Math.max(0, width - 5))}`
  const full = Math.round(shareOf(shown) * barWidth)
  return `${shorten(shown.name, nameWidth).padEnd(nameWidth)} [${'#'.repeat(full)}${'-'.repeat(barWidth - full)}] ${figures}`
}

const FIGURES_WIDTH = '100% of 999.9 MiB'.length

/** Keeps the end of a long name: the file name says more than its directory. */
function shorten(name: string, width: number): string {
  return name.length <= width ? name : `…${name.slice(name.length - width + 1)}`
}

function percent(shown: Shown): string {
  return `${Math.floor(shareOf(shown) * 100)}%`
}

function shareOf({ sent, size }: Shown): number {
  return size === 0 ? 1 : sent / size
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** A size for people: `512 bytes`, `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`
}
