const ESCAPE = String.fromCharCode(27)
const BELL = String.fromCharCode(7)
/** Colors and cursor movements (ECMA-48), and titles and links of terminals. */
const SEQUENCES = new RegExp(
  `${ESCAPE}\\[[0-9;:?]{0,32}[A-Za-z]|${ESCAPE}\\][^${ESCAPE}${BELL}]{0,400}(?:${BELL}|${ESCAPE}\\\\)?|${ESCAPE}[@-Z\\\\^_=>]`,
  'g',
)
const TIMESTAMP = /^\uFEFF?\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:Z|[+-]\d{2}:?\d{2})? ?/
const CONTROLS = /[\p{Cc}\p{Co}]/gu

/** Only the start of longer lines is kept. */
const LINE_CHARS_MAX = 4000

/** The lines of a job's log without time stamps, colors and control characters. */
export function readLogLines(log: string): string[] {
  return log.split('\n').map(cleanLine)
}

/** A line that was overwritten on the terminal (progress) keeps its last version. */
function cleanLine(raw: string): string {
  const ended = raw.endsWith('\r') ? raw.slice(0, -1) : raw
  const line = ended.slice(ended.lastIndexOf('\r') + 1).slice(0, LINE_CHARS_MAX)
  return line.replace(TIMESTAMP, '').replace(SEQUENCES, '').replaceAll('\t', '  ').replace(CONTROLS, '').trimEnd()
}

// Runners mark lines like this: GitHub Actions and Azure Pipelines.
const ERROR = '##[error]'
const STEP_START = '##[group]Run '
const GROUP_END = '##[endgroup]'
const EXIT_CODE = `${ERROR}Process completed with exit code`

/**
 * The lines of the step that failed, from the output of its command to its error. A log without
 * marks is returned whole.
 */
export function linesOfFailedStep(lines: readonly string[]): string[] {
  const exit = lines.findLastIndex((line) => line.startsWith(EXIT_CODE))
  const end = exit >= 0 ? exit : lines.findLastIndex((line) => line.startsWith(ERROR))
  if (end < 0) return withoutMarks(lines)
  const before = lines.slice(0, end + 1)
  const start = before.findLastIndex((line) => line.startsWith(STEP_START))
  const command = start < 0 ? -1 : before.findIndex((line, index) => index > start && line.startsWith(GROUP_END))
  return withoutMarks(before.slice(Math.max(start, command) + 1))
}

const MARK = /^##\[(\w{1,20})\]/
const SHOWN: Record<string, string> = { error: 'Error: ', warning: 'Warning: ', notice: 'Notice: ' }
const HIDDEN = ['endgroup', 'debug', 'section']

function withoutMarks(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const mark = MARK.exec(line)?.[1]
    if (mark === undefined) return [line]
    return HIDDEN.includes(mark) ? [] : [line.replace(MARK, SHOWN[mark] ?? '')]
  })
}
