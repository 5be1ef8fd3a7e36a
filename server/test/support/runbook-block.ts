import { readFileSync } from 'node:fs'

const DOCS = new URL('../../../docs/', import.meta.url)

/** The blocks of a language, such as `ini`, in one section of a page below `docs/`. */
export function readRunbookBlocks(page: string, heading: string, language: string): string[] {
  const text = readFileSync(new URL(page, DOCS), 'utf8')
  const section = text.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  const blocks = section.matchAll(new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm'))
  const found = [...blocks].map(([, block = '']) => block.trim())
  if (found.length === 0) throw new Error(`docs/${page}, "${heading}" has no ${language} block`)
  return found
}

/** The settings of PostgreSQL in an `ini` block, without the quotes. */
export function settingsOf(block: string): Record<string, string> {
  const lines = block.split('\n').map((line) => /^(\w+) = '(.*)'$/.exec(line))
  return Object.fromEntries(lines.flatMap((line) => (line ? [[line[1] as string, line[2] as string]] : [])))
}
