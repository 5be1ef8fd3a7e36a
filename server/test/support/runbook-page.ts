import { readFileSync } from 'node:fs'

/** The commands of one section of a runbook page. */
export type RunbookSection = { heading: string; commands: string[] }

const DOCS = new URL('../../../docs/', import.meta.url)
const HEADING = /^#{1,6} (.+)$/
const FENCE = /^```(\w*)$/

/**
 * The sections of a page below `docs/` that contain commands, which are its `sh` blocks. A section
 * ends at the next heading of any level.
 */
export function readRunbookPage(page: string): RunbookSection[] {
  const sections: RunbookSection[] = [{ heading: '', commands: [] }]
  let block: { isShell: boolean; lines: string[] } | null = null
  for (const line of readFileSync(new URL(page, DOCS), 'utf8').split('\n')) {
    const fence = FENCE.exec(line)
    if (block && fence) {
      if (block.isShell) sections.at(-1)?.commands.push(block.lines.join('\n'))
      block = null
    } else if (block) block.lines.push(line)
    else if (fence) block = { isShell: fence[1] === 'sh', lines: [] }
    else if (HEADING.test(line)) sections.push({ heading: line.replace(/^#+ /, ''), commands: [] })
  }
  return sections.filter((section) => section.commands.length > 0)
}
