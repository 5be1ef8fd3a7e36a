import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { test } from 'node:test'
import { importsOf } from './support/source-imports.ts'

const SERVER = new URL('../', import.meta.url).pathname

test('the package depends on exactly the packages that the source imports at run time', () => {
  const imported = globSync('src/**/*.ts', { cwd: SERVER, exclude: ['**/*.test.ts'] })
    .flatMap((path) => importsOf(readFileSync(SERVER + path, 'utf8')))
    .filter(({ specifier, typeOnly }) => !typeOnly && !specifier.startsWith('.') && !isBuiltin(specifier))
    .map(({ specifier }) => packageOf(specifier))
  const { dependencies } = JSON.parse(readFileSync(`${SERVER}package.json`, 'utf8'))
  assert.deepEqual([...new Set(imported)].sort(), Object.keys(dependencies).sort())
})

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
