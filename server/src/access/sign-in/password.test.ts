import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashPassword } from './password.ts'

test('an owner who sets many passwords at once does not hold up others', async () => {
  let done = 0
  const many = Array.from({ length: 10 }, async () => {
    await hashPassword('correct horse battery', 'one')
    done += 1
  })
  await hashPassword('correct horse battery', 'other')
  assert.ok(done <= 4, `${done} hashes of another owner came first`)
  await Promise.all(many)
})
