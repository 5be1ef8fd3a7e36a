import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { test } from 'node:test'
import { importsOf } from './support/source-imports.ts'

const SERVER = new URL('../', import.meta.url).pathname

test('the package depends on exactly the packages that the source imports at run time', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(`${SERVER}package.json`, 'utf8'))
  // The build copies the packages of this repository into `dist`.
  const own = Object.keys(devDependencies).filter((name) => name.startsWith('@shiplock/'))
  const folders = ['src', ...own.map((name) => `${name.replace('@shiplock/', '../packages/')}/src`)]
  const imported = globSync(`{${folders.join(',')}}/**/*.ts`, { cwd: SERVER, exclude: ['**/*.test.ts'] })
    .flatMap((path) => importsOf(readFileSync(SERVER + path, 'utf8')))
    .filter(({ specifier, typeOnly }) => !typeOnly && !specifier.startsWith('.') && !isBuiltin(specifier))
    .map(({ specifier }) => packageOf(specifier))
  assert.deepEqual([...new Set(imported)].sort(), [...Object.keys(dependencies), ...own].sort())
})

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
