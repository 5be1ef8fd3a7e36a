import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPassword, readHosts, readSocketUrl, removePassword } from './database-url.ts'

test('the password is removed from every part where libpq accepts one', () => {
  const addresses = [
    'postgres://shiplock:hunter2@db.example:5432/shiplock',
    'postgres://shiplock:hunter2@db.example/shiplock?sslmode=require',
    'postgres://shiplock@db.example/shiplock?password=hunter2',
    'postgres://shiplock@db.example/shiplock?sslmode=require&sslpassword=hunter2',
    'postgres://shiplock:hunter2@one.example:5432,two.example:5433/shiplock',
    'postgres://shiplock:hunt@er2@one.example,two.example/shiplock?password=hunter2',
  ]
  for (const address of addresses) assert.doesNotMatch(removePassword(address), /hunt|er2/)
})

test('the parameters that psql needs are kept', () => {
  assert.equal(
    removePassword('postgres://shiplock:secret@/shiplock?host=/data&password=secret'),
    'postgres://shiplock@/shiplock?host=%2Fdata',
  )
  assert.equal(
    removePassword('postgres://shiplock:secret@db.example:5433/shiplock?sslmode=require'),
    'postgres://shiplock@db.example:5433/shiplock?sslmode=require',
  )
  assert.equal(removePassword('postgres://shiplock:secret@one,two/shiplock'), 'postgres://shiplock@one,two/shiplock')
  assert.equal(
    removePassword('postgres://shiplock@%2Fdata%2Fpostgres:5432/shiplock'),
    'postgres://shiplock@%2Fdata%2Fpostgres:5432/shiplock',
  )
})

const SOCKETS: [url: string, endpoint: object][] = [
  [
    'postgres://shiplock@%2Fdata%2Fpostgres:5433/shiplock',
    { host: '/data/postgres', port: 5433, database: 'shiplock', user: 'shiplock' },
  ],
  ['postgresql://shiplock@/shiplock?host=/data', { host: '/data', database: 'shiplock', user: 'shiplock' }],
  ['postgresql:///shiplock?host=%2Fa+b&port=5433', { host: '/a+b', port: 5433, database: 'shiplock' }],
  ['postgres://u:p%40:w@/d?host=/data', { host: '/data', database: 'd', user: 'u', password: 'p@:w' }],
  ['postgres://localhost/d?host=/data&user=u', { host: '/data', database: 'd', user: 'u' }],
  ['postgres://?host=/data', { host: '/data' }],
]
for (const [url, endpoint] of SOCKETS) {
  test(`the address of a Unix socket ${url}`, () => {
    assert.deepEqual(readSocketUrl(url)?.endpoint, endpoint)
  })
}

test('connection parameters are kept, and only socket addresses are converted', () => {
  const parameters = readSocketUrl('postgres:///d?host=/data&application_name=x')?.parameters
  assert.equal(String(parameters), 'application_name=x')
  for (const url of [
    'postgres://u:p@db.example/d?sslmode=require',
    'postgres://one,two/d',
    'postgres://db/d?host=other',
  ]) {
    assert.equal(readSocketUrl(url), null)
  }
})

test('an address with several hosts has an address for each', () => {
  assert.deepEqual(
    readHosts('postgres://u:p%40w@one.example,[::1]:5433/d?sslmode=require&target_session_attrs=read-write'),
    [
      { host: 'one.example', port: 5432, url: 'postgres://u:p%40w@one.example:5432/d?sslmode=require' },
      { host: '::1', port: 5433, url: 'postgres://u:p%40w@[::1]:5433/d?sslmode=require' },
    ],
  )
  assert.deepEqual(readHosts('postgres://one.example/d?target_session_attrs=primary'), [
    { host: 'one.example', port: 5432, url: 'postgres://one.example:5432/d' },
  ])
})

test('an address with one host and any session is followed by nobody', () => {
  for (const url of [
    'postgres://u@one.example:5433/d',
    'postgres://u@one.example/d?target_session_attrs=any',
    'postgres://u@%2Fdata/d?target_session_attrs=read-write',
  ])
    assert.equal(readHosts(url), null)
})

test('a password file has the password of the first line that is for the login', () => {
  const file = [
    '# db.example:5432:shiplock:ada:commented',
    'db.example:5433:shiplock:ada:other port',
    'db.example:5432:*:a\\:da:with a colon',
    'db.example:5432:*:ada:hunt\\\\er\\:2',
    '*:*:*:ada:later',
  ].join('\n')
  const login = { host: 'db.example', port: 5432, database: 'shiplock', user: 'ada' }
  assert.equal(findPassword(file, login), 'hunt\\er:2')
  assert.equal(findPassword(file, { ...login, user: 'a:da' }), 'with a colon')
  assert.equal(findPassword(file, { ...login, host: '/data' }), 'later')
  assert.equal(findPassword(file, { ...login, user: 'bob' }), null)
  assert.equal(findPassword('', login), null)
})
