import type { Schema } from '../api/client.ts'

// Characters that change the order in which others are shown, and control characters. A report could
// use them to make a text look like another one.
const DECEPTIVE = /(?![\t\n])\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu

/** A text of a report as one line, at most so long, with deceptive characters made visible. */
export function oneLine(text: string, lengthMax: number): string {
  // More than the longest line in any case, so that a text of megabytes costs nothing.
  const start = text
    .slice(0, lengthMax * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const visible = showDeceptive(start)
  return visible.length > lengthMax ? `${visible.slice(0, lengthMax - 1)}…` : visible
}

/** The same text with deceptive characters made visible. Lines stay lines. */
export function showDeceptive(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(DECEPTIVE, '�')
}

/** The first lines of a text, and whether there is more. */
export function startOf(text: string, linesMax: number, charsMax: number): { start: string; isAll: boolean } {
  const lines = text.slice(0, charsMax).split('\n', linesMax + 1)
  const start = lines.slice(0, linesMax).join('\n')
  return { start, isAll: start.length === text.length }
}

type Run = Pick<Schema<'PipelineRun'>, 'commit_message' | 'workflow_name'>

/** What a run is about: the first line of the commit message, or the workflow. */
export function titleOf({ commit_message, workflow_name }: Run): string {
  const first = commit_message
    ?.trim()
    .split(/\r?\n|\r/, 1)[0]
    ?.trim()
  return showDeceptive(first || workflow_name)
}
