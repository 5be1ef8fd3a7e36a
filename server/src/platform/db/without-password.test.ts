import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutPassword } from './without-password.ts'

test('the password is gone, wherever libpq takes one', () => {
  const addresses = [
    'postgres://shiplock:hunter2@db.example:5432/shiplock',
    'postgres://shiplock:hunter2@db.example/shiplock?sslmode=require',
    'postgres://shiplock@db.example/shiplock?password=hunter2',
    'postgres://shiplock@db.example/shiplock?sslmode=require&sslpassword=hunter2',
    'postgres://shiplock:hunter2@one.example:5432,two.example:5433/shiplock',
    'postgres://shiplock:hunt@er2@one.example,two.example/shiplock?password=hunter2',
  ]
  for (const address of addresses) assert.doesNotMatch(withoutPassword(address), /hunt|er2/)
})

test('what psql needs stays', () => {
  assert.equal(
    withoutPassword('postgres://shiplock:secret@db.example:5433/shiplock?sslmode=require'),
    'postgres://shiplock@db.example:5433/shiplock?sslmode=require',
  )
  assert.equal(withoutPassword('postgres://shiplock:secret@one,two/shiplock'), 'postgres://shiplock@one,two/shiplock')
  assert.equal(
    withoutPassword('postgres://shiplock@%2Fdata%2Fpostgres:5432/shiplock'),
    'postgres://shiplock@%2Fdata%2Fpostgres:5432/shiplock',
  )
})
