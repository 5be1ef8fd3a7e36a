import { edit, type FileLines, type Gap, squeeze } from './file-lines.ts'
import { freeLines, type Line, withoutBrackets } from './line-text.ts'

/** Characters without white space, and lines, that a statement in other lines has. */
const SHORTEST_BREAK = 12
const LONGEST_BREAK = 40

/**
 * Lines that have the same text on both sides in other lines: each line becomes the line its first
 * character is in.
 */
export function breakLines(file: FileLines, gap: Gap): void {
  const { olds, news } = bareLines(freeLines(file, gap, (text) => squeeze(text) !== ''))
  for (let oldAt = 0, newAt = 0; oldAt < olds.length; oldAt += 1) {
    for (let start = newAt; start < news.length; start += 1) {
      const [oldEnd, newEnd] = equalTextEnd({
        olds: olds.slice(oldAt, oldAt + LONGEST_BREAK),
        news: news.slice(start, start + LONGEST_BREAK),
      })
      if (oldEnd === 0) continue
      pairBroken(file, olds.slice(oldAt, oldAt + oldEnd), news.slice(start, start + newEnd))
      oldAt += oldEnd - 1
      newAt = start + newEnd
      break
    }
  }
}

/** How many lines of both sides, from the first, have the same text. Zero when none do. */
function equalTextEnd({ olds, news }: { olds: Line[]; news: Line[] }): [number, number] {
  let [oldText, newText] = [olds[0]?.text ?? '', news[0]?.text ?? '']
  let [oldEnd, newEnd] = [1, 1]
  while (oldText !== newText) {
    const oldShorter = oldText.length < newText.length
    const next = oldShorter ? olds[oldEnd++] : news[newEnd++]
    if (next === undefined || !(oldShorter ? newText.startsWith(oldText) : oldText.startsWith(newText))) return [0, 0]
    if (oldShorter) oldText += next.text
    else newText += next.text
  }
  return oldText.length < SHORTEST_BREAK ? [0, 0] : [oldEnd, newEnd]
}

function pairBroken(file: FileLines, olds: Line[], news: Line[]): void {
  let offset = 0
  for (const old of olds) {
    const first = lineAtOffset(news, offset)
    offset += old.text.length
    edit(file, old.line, [first, lineAtOffset(news, offset - 1) - first + 1])
  }
  for (const { line } of news) file.claimed.add(line)
}

/** The line that has the nth character of the joined lines. */
function lineAtOffset(lines: Line[], offset: number): number {
  let end = 0
  for (const { line, text } of lines) {
    end += text.length
    if (end > offset) return line
  }
  return lines.at(-1)?.line ?? 0
}

function bareLines({ olds, news }: { olds: Line[]; news: Line[] }): { olds: Line[]; news: Line[] } {
  const bare = (lines: Line[]) => lines.map((line) => ({ ...line, text: withoutBrackets(line.text) }))
  return { olds: bare(olds), news: bare(news) }
}
