import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

const ROOT = new URL('../../../../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8')
const doc = read('docs/audit-log.md').split('## What is recorded')[1] as string

test('docs/audit-log.md lists every operation of people that is not a GET, with its actions', () => {
  const { paths } = JSON.parse(read('app-openapi.json')) as {
    paths: Record<string, Record<string, { operationId: string }>>
  }
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods))
  const changing = operations.filter(([method]) => method !== 'get').map(([, { operationId }]) => operationId)
  assert.ok(changing.length > 50)
  assert.deepEqual(
    changing.filter((name) => !doc.includes(`\`${name}\``)),
    [],
  )
})

test('the listed actions are those of the source', () => {
  const files = globSync('server/src/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'))
  const source = files.map(read).join('\n')
  const actions = [...doc.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, action]) => action as string)
  assert.ok(actions.length > 50)
  const isInSource = (action: string) => source.includes(`'${action}'`) || isOfTemplate(source, action)
  assert.deepEqual(
    actions.filter((action) => !isInSource(action)),
    [],
  )
})

/** Actions such as `triage.${'$'}{action}`, and those of both gates and policies. */
function isOfTemplate(source: string, action: string): boolean {
  const [object = '', verb = ''] = action.split('.')
  const isOfBoth = ['gate', 'policy'].includes(object) && source.includes(`.${'$'}{verb}_change\``)
  return source.includes(`\`${object}.${'$'}{`) || (isOfBoth && /^(propose|confirm|withdraw)_change$/.test(verb))
}
