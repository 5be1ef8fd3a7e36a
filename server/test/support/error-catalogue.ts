import { globSync } from 'node:fs'
import type { ErrorDescription } from '../../src/platform/http/api-error.ts'

const SOURCES = new URL('../../src/', import.meta.url)

/** Errors that are not in docs/errors.md: docs/ingest.md describes those of the ingest routes. */
const ELSEWHERE = ['errors/ingest.ts', 'errors/commands.ts']

export type DeclaredError = ErrorDescription & { file: string }

/** All errors that the server declares, by status and code. */
export async function readErrorCatalogue(): Promise<DeclaredError[]> {
  const files = globSync(['errors/*.ts', 'platform/*/errors.ts'], { cwd: SOURCES.pathname })
  const declared = await Promise.all(
    files.map(async (file) => {
      const values = Object.values(await import(new URL(file, SOURCES).href))
      return values.filter(isDeclared).map(({ status, code, cause, remedy }) => ({ file, status, code, cause, remedy }))
    }),
  )
  return declared.flat().sort((one, other) => one.status - other.status || (one.code < other.code ? -1 : 1))
}

function isDeclared(value: unknown): value is ErrorDescription {
  return typeof value === 'function' && 'code' in value
}

export function isInErrorsPage({ file }: DeclaredError): boolean {
  return !ELSEWHERE.includes(file)
}
