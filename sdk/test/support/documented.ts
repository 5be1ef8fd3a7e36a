import { readFileSync } from 'node:fs'

const GUIDE = new URL('../../../docs/sdk.md', import.meta.url)

/** The programs of docs/sdk.md, each with the heading above it. */
export function documentedPrograms(language: 'js' | 'js browser'): { heading: string; program: string }[] {
  const programs = []
  let heading = ''
  for (const part of readFileSync(GUIDE, 'utf8').split(/^(?=## |```)/m)) {
    heading = /^## (.*)/.exec(part)?.[1] ?? heading
    const [, tag, program] = /^```([^\n]+)\n([\s\S]*)/.exec(part) ?? []
    if (tag === language && program !== undefined) programs.push({ heading, program })
  }
  return programs
}
