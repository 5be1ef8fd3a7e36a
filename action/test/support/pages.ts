import { readFileSync } from 'node:fs'

const PAGES = new URL('../../../docs/ci/', import.meta.url)
/** The server that the pages name. */
const EXAMPLE_URL = 'https://shiplock.example.com'

export type Block = { language: string; text: string }

/** A page of docs/ci with the URL of a real server. */
export function readPage(name: string, url: string): { commands: string[]; files: Block[] } {
  const blocks = codeBlocks(readFileSync(new URL(name, PAGES), 'utf8').replaceAll(EXAMPLE_URL, url))
  const isCommand = ({ text }: Block) => text.startsWith('npx shiplock-server ')
  return {
    commands: blocks.filter(isCommand).flatMap(({ text }) => text.trim().split('\n')),
    files: blocks.filter((block) => !isCommand(block)),
  }
}

/** A command of a page for an organization of a test, with an issuer on loopback. */
export function adaptedCommand(command: string, organization: string, issuer: string): string {
  const own = command.replace('--org default', `--org ${organization}`)
  if (!own.includes(' trust create ')) return own
  return own.includes('--issuer ') ? own.replace(/--issuer \S+/, `--issuer ${issuer}`) : `${own} --issuer ${issuer}`
}

/** The code blocks of a Markdown document, also those in lists. */
function codeBlocks(markdown: string): Block[] {
  const blocks = markdown.matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)
  return [...blocks].map(([, indent = '', language = '', text = '']) => ({
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }))
}
