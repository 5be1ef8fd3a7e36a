import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { computeCheckout, type Evidence } from './checkout.ts'

const NOTHING: Evidence = { name: null, paths: [], workingDirectories: [] }

const infer = (paths: string[], evidence: Partial<Evidence> = {}) => {
  const { directories, isGuess } = computeCheckout(paths, { ...NOTHING, ...evidence })
  return isGuess ? [...directories, 'guess'] : directories
}

/** Below the home directory of the account that a CI system runs as. */
const inHome = (top: string, account: string, rest: string) => `/${top}/${account}/${rest}`

const NAMED_CHECKOUTS = [
  '/__w/app/app',
  inHome('home', 'runner', 'work/app/app'),
  inHome('Users', 'runner', 'work/app/app'),
  inHome('home', 'runner', '_work/App/app'),
  '/opt/actions-runner/_work/app/app',
  'D:/a/app/app',
  '/codebuild/output/src123/src/github.com/acme/app',
  '/var/lib/buildkite-agent/builds/host-1/acme/app',
  '/builds/acme/app',
  '/builds/Zk3x/0/acme/app',
  '/home/travis/build/acme/app',
  '/app',
  '/usr/src/app',
]
for (const checkout of NAMED_CHECKOUTS) {
  test(`the checkout ${checkout} is recognized by the name of the repository`, () => {
    const name = 'acme/app'
    assert.deepEqual(infer([`${checkout}/src/a.ts`, `${checkout}/src/b/c.ts`], { name }), [checkout])
    assert.deepEqual(infer([`${checkout}/src/app/a.ts`, `${checkout}/x.ts`], { name }), [checkout])
  })
}

test('the last group of a subgroup is next to the name of the repository', () => {
  const paths = ['/builds/group/sub/app/app/a.py', '/builds/group/sub/app/app/b.py']
  assert.deepEqual(infer(paths, { name: 'group/sub/app' }), ['/builds/group/sub/app'])
})

test('code that moved into a folder keeps the checkout with the full name of the repository', () => {
  const runner = inHome('home', 'runner', 'work/app/app')
  const moved = ['static/a.js', 'static/b.js'].map((path) => `${runner}/src/app/${path}`)
  const earlier = { paths: ['app/static/a.js', 'app/static/b.js'] }
  assert.deepEqual(infer(moved, { name: 'acme/app', ...earlier }), [runner])
  assert.deepEqual(infer(moved, earlier), [`${runner}/src`])
})

test('a package with the name of the repository is in the checkout', () => {
  const runner = inHome('home', 'runner', 'work/app/app')
  assert.deepEqual(infer([`${runner}/app/a.py`], { name: 'acme/app' }), [runner])
  assert.deepEqual(infer(['/srv/app/app/a.py'], { name: 'acme/app' }), ['/srv/app', 'guess'])
})

test('a name after a directory that is usual in a repository, or a similar name, is a guess', () => {
  const name = 'acme/app'
  assert.deepEqual(infer(['/home/me/src/app/lib/a.ts', '/home/me/src/app/package.json'], { name }), [
    '/home/me/src/app',
    'guess',
  ])
  assert.deepEqual(infer(['/var/lib/jenkins/workspace/app_main/src/a.ts'], { name }), [
    '/var/lib/jenkins/workspace/app_main',
    'guess',
  ])
  assert.deepEqual(infer(['/scan/acme__app/src/a.ts'], { name }), ['/scan/acme__app'])
})

const ANY_CHECKOUTS = [
  '/tmp/a',
  '/workspace/source',
  '/github/workspace',
  '/home/circleci/project',
  '/root/project',
  '/opt/atlassian/pipelines/agent/build',
  '/var/lib/jenkins/workspace/nightly',
  '/builds/x/other',
  '/drone/src',
  'D:/a/1/s',
  'C:/agent/_work/7/s',
  'X:',
]
for (const checkout of ANY_CHECKOUTS) {
  test(`the checkout ${checkout} is recognized by earlier paths of the repository`, () => {
    const paths = ['src/a.ts', 'src/b/c.ts', 'test/t.ts']
    const inside = (path: string) => `${checkout}/${path}`
    assert.deepEqual(infer(paths.map(inside), { paths }), [checkout])
    assert.deepEqual(infer([inside('src/a.ts')], { paths, name: 'acme/app' }), [checkout])
    assert.deepEqual(infer([inside('src/a.ts'), inside('lib/new.ts')], { paths }), [checkout])
    assert.deepEqual(infer([inside('src/b/d.ts'), inside('src/b/e.ts')], { paths }), [checkout, 'guess'])
  })
}

test('earlier paths that mostly agree take precedence over the name, a single file name does not', () => {
  const inApp = ['/ci/ws/packages/app/src/a.js', '/ci/ws/packages/app/src/b.js']
  const paths = ['packages/app/src/a.js']
  assert.deepEqual(infer(inApp, { name: 'acme/app', paths }), ['/ci/ws'])
  assert.deepEqual(infer(['/builds/acme/app/src/index.js'], { name: 'acme/app', paths: ['index.js'] }), [
    '/builds/acme/app',
  ])
  assert.deepEqual(infer(['/other/place/x.js'], { paths: ['x.js'] }), ['/other/place', 'guess'])
})

test('the working directory of the tool is the checkout, or a directory in it', () => {
  const name = 'acme/app'
  const workingDirectories = ['/ci/app/packages/web', '/elsewhere']
  assert.deepEqual(infer(['/ci/app/packages/web/a.ts'], { workingDirectories }), ['/ci/app/packages/web'])
  assert.deepEqual(infer(['/ci/app/packages/web/a.ts'], { workingDirectories, name }), ['/ci/app'])
  assert.deepEqual(infer(['/ci/ws/services/app/a.ts'], { workingDirectories: ['/ci/ws'], name }), ['/ci/ws'])
})

const GUESSES: [paths: string[], directory: string][] = [
  [['/tmp/a/x.js'], '/tmp/a'],
  [['/tmp/a/src/x.js', '/tmp/a/src/y.js'], '/tmp/a'],
  [['/tmp/a/packages/web/src/x.js'], '/tmp/a'],
  [['/drone/src/lib/x.js', '/drone/src/package.json'], '/drone/src'],
  [['/var/lib/jenkins/workspace/job/x.js', '/var/lib/jenkins/workspace/job/y/z.js'], '/var/lib/jenkins/workspace/job'],
  [['C:/agent/_work/7/s/lib/x.cs'], 'C:/agent/_work/7/s'],
  [['/src/.venv/lib/python3/site-packages/a.py'], '/src'],
]
for (const [paths, directory] of GUESSES) {
  test(`without other reasons, the checkout of ${paths[0]} is guessed to be ${directory}`, () => {
    assert.deepEqual(infer(paths), [directory, 'guess'])
  })
}

test('paths without a common directory have no checkout', () => {
  assert.deepEqual(infer(['/x.js']), ['guess'])
  assert.deepEqual(infer(['/a/x.js', '/b/y.js']), ['guess'])
  assert.deepEqual(infer(Array.from({ length: 10_000 }, (_, drive) => `/d${drive}/x.js`)), ['guess'])
})

test('headers and libraries outside the checkout do not change it', () => {
  const outside = ['/usr/include/stdio.h', '/usr/include/app/a.h', 'C:/Program Files/x/y.h', '/lib/x/y.h']
  const cache = ['/root/.cargo/registry/src/x/src/a.rs', '/root/go/pkg/mod/x/a.go', '/x/node_modules/a/b.js']
  const paths = ['/tmp/ci/app/src/a.c', '/tmp/ci/app/b.c', '/opt/sdk/x.h', ...outside, ...cache]
  assert.deepEqual(infer(paths, { name: 'acme/app' }), ['/tmp/ci/app'])
  assert.deepEqual(infer(paths), ['/tmp/ci/app', 'guess'])
  assert.deepEqual(infer(outside, { name: 'acme/app' }), [])
})

test('a package with the name of the repository is not the checkout if other files are next to it', () => {
  const name = 'acme/app'
  const inPackage = ['/tmp/q/app/a.py', '/tmp/q/app/b.py', '/tmp/q/app/c.py']
  assert.deepEqual(infer([...inPackage, '/tmp/q/demos/d.py'], { name }), ['/tmp/q', 'guess'])
  assert.deepEqual(infer(['/tmp/q/src/app/a.py', '/tmp/q/src/app/b.py'], { name }), ['/tmp/q', 'guess'])
  assert.deepEqual(
    infer(
      inPackage.map((path) => path.replace('/q/', '/acme-app/')),
      { name },
    ),
    ['/tmp/acme-app'],
  )
})

test('an earlier guess that was too deep is corrected when files next to it appear', () => {
  const inDemos = ['/w/ci/demos/a.py', '/w/ci/demos/b.py', '/w/ci/demos/c.py']
  const paths = ['a.py', 'b.py', 'c.py']
  assert.deepEqual(infer(inDemos, { paths }), ['/w/ci/demos'])
  assert.deepEqual(infer([...inDemos, '/w/ci/core/d.py'], { paths }), ['/w/ci', 'guess'])
  const top = [...paths, 'setup.py', 'tests/t.py']
  assert.deepEqual(infer([...inDemos, '/w/ci/core/d.py'], { paths: top }), ['/w/ci/demos'])
})

test('a directory with the name of the repository that only some paths share is not the checkout', () => {
  const paths = ['/ci/app/src/app/a.py', '/ci/app/src/app/b.py', '/ci/app/test/c.py']
  assert.deepEqual(infer(paths, { name: 'acme/app' }), ['/ci/app'])
})

test('a report that was merged of several machines has several checkouts', () => {
  const paths = ['/__w/app/app/src/a.ts', '/__w/app/app/src/b.ts', 'D:/a/app/app/src/c.ts']
  assert.deepEqual(infer(paths, { name: 'acme/app' }), ['/__w/app/app', 'D:/a/app/app'])
})

const segment = fc.constantFrom('a', 'b', 'src', 'app', 'lib', 'web', 'x1')
const relative = fc.array(segment, { minLength: 1, maxLength: 4 }).map((names) => `${names.join('/')}.ts`)
const directory = fc
  .tuple(fc.constantFrom('/ci', 'C:'), fc.array(segment, { minLength: 1, maxLength: 4 }))
  .map(([top, names]) => [top, ...names].join('/'))

test('a tree that was stored once has the same paths wherever it is checked out', () => {
  fc.assert(
    fc.property(fc.uniqueArray(relative, { minLength: 2 }), directory, (paths, checkout) => {
      const deep = [...paths, 'q/r.ts']
      assert.deepEqual(
        infer(
          deep.map((path) => `${checkout}/${path}`),
          { paths: deep },
        ),
        [checkout],
      )
    }),
  )
})

test('deep paths and many files are inferred in bounded time', () => {
  const deep = `/${'app/'.repeat(240)}`
  const paths = Array.from({ length: 4000 }, (_, at) => `${deep}${at}.ts`)
  const known = Array.from({ length: 5000 }, (_, at) => `${'app/'.repeat(at % 200)}${at}.ts`)
  const started = performance.now()
  infer(paths, { name: 'app/app', paths: known })
  assert.ok(performance.now() - started < 5000)
})
