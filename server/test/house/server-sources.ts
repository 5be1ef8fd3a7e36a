import { globSync, readFileSync } from 'node:fs'
import type { Source } from '../support/source-imports.ts'

const SRC = new URL('../../src/', import.meta.url).pathname

/** The files below server/src without tests: a test beside a rule may do what the rule may not. */
export function readServerSources(): Source[] {
  return globSync('**/*.ts', { cwd: SRC })
    .filter((path) => !path.endsWith('.test.ts'))
    .map((path) => sourceOf(path, readFileSync(SRC + path, 'utf8')))
}

export function sourceOf(path: string, text: string): Source {
  return { path, text: withoutComments(text), lines: text.split('\n') }
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}
