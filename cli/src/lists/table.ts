import { printable } from '@shiplock/command-line/printable'

/** A column of a table. */
export type Column<Row> = {
  heading: string
  /** The text of a row; null is shown as an empty cell. */
  text(row: Row): string | null
  /** True for the column that is cut if the terminal is too narrow. */
  isFlexible?: boolean
  /** True for a column that is left out if the terminal is too narrow for all of them. */
  isOptional?: boolean
  /** True for a column of severities, which are coloured on a terminal. */
  isSeverity?: boolean
}

type TableStyle = {
  /** The width of the terminal; null if the output is none, so that nothing is cut. */
  width: number | null
  hasColours: boolean
}

const GAP = 2
const FLEXIBLE_MIN = 10

/** A table with one line for each row. Control characters in it are shown as escapes. */
export function renderTable<Row>(all: readonly Column<Row>[], rows: readonly Row[], style: TableStyle): string {
  const columns = fittingColumns(all, rows, style.width)
  const cells = cellsOf(columns, rows)
  const widths = fitted(columns, naturalWidths(columns, cells), style.width)
  const line = (texts: string[]) => {
    const whole = texts
      .map((text, index) => padded(text, widths[index] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd()
    return style.width !== null && widthOf(whole) > style.width ? padded(whole, style.width) : whole
  }
  const heading = line(columns.map((column) => column.heading))
  const body = cells.map((texts) => (style.hasColours ? coloured(line(texts), texts, columns, widths) : line(texts)))
  return [heading, ...body].join('\n')
}

/** Leaves out optional columns, the last first, until the others fit when they are cut. */
function fittingColumns<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  width: number | null,
): readonly Column<Row>[] {
  if (width === null) return all
  const natural = naturalWidths(all, cellsOf(all, rows))
  const shown = all.map((column, index) => ({ column, min: minWidth(column, natural[index] ?? 0) }))
  while (shown.reduce((sum, { min }) => sum + min, GAP * (shown.length - 1)) > width) {
    const last = shown.findLastIndex(({ column }) => column.isOptional)
    if (last < 0) break
    shown.splice(last, 1)
  }
  return shown.map(({ column }) => column)
}

function minWidth<Row>({ isFlexible }: Column<Row>, natural: number): number {
  return isFlexible ? Math.min(natural, FLEXIBLE_MIN) : natural
}

function cellsOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[][] {
  return rows.map((row) => columns.map(({ text }) => printable(text(row) ?? '')))
}

function naturalWidths<Row>(columns: readonly Column<Row>[], cells: string[][]): number[] {
  return columns.map(({ heading }, index) =>
    cells.reduce((width, texts) => Math.max(width, widthOf(texts[index] ?? '')), heading.length),
  )
}

/** Cuts the flexible columns, the widest first, until the table fits. Other columns are kept whole. */
function fitted<Row>(columns: readonly Column<Row>[], widths: number[], width: number | null): number[] {
  if (width === null) return widths
  let excess = widths.reduce((sum, one) => sum + one, GAP * (widths.length - 1)) - width
  const shrunk = [...widths]
  while (excess > 0) {
    const widest = columns
      .flatMap(({ isFlexible }, index) => (isFlexible && (shrunk[index] ?? 0) > FLEXIBLE_MIN ? [index] : []))
      .sort((a, b) => (shrunk[b] ?? 0) - (shrunk[a] ?? 0))[0]
    if (widest === undefined) return shrunk
    shrunk[widest] = (shrunk[widest] ?? 0) - 1
    excess--
  }
  return shrunk
}

/** The text with exactly this width. */
function padded(text: string, width: number): string {
  const own = widthOf(text)
  if (own <= width) return text + ' '.repeat(width - own)
  let cut = ''
  let cutWidth = 0
  for (const character of text) {
    if (cutWidth + widthOf(character) > width - 1) break
    cut += character
    cutWidth += widthOf(character)
  }
  return `${cut}…${' '.repeat(width - 1 - cutWidth)}`
}

/** Characters that take two columns: those of East Asian scripts, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const COMBINING = /\p{Mn}/u

function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

/** The codes of the terminal (SGR) for each severity. */
const COLOURS: Record<string, string> = { critical: '1;31', high: '31', medium: '33', low: '36', info: '2' }

/** Colours the severity of a line, if the line has room for it. The columns before it are never cut. */
function coloured<Row>(
  line: string,
  texts: string[],
  columns: readonly Column<Row>[],
  widths: readonly number[],
): string {
  const index = columns.findIndex(({ isSeverity }) => isSeverity)
  const severity = texts[index] ?? ''
  const code = COLOURS[severity]
  if (code === undefined) return line
  const at = widths.slice(0, index).reduce((sum, width) => sum + width + GAP, 0)
  if (!line.startsWith(severity, at)) return line
  return `${line.slice(0, at)}\u001b[${code}m${severity}\u001b[0m${line.slice(at + severity.length)}`
}
