import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseReport } from '../../../../test/support/parse-report.ts'
import { getFileLocation } from './location.ts'
import { createRun, type SarifRun } from './sarif-run.ts'

const base = (uri: string | null, uriBaseId: string | null = null) => ({ uri, uriBaseId, index: null })

function runWith(bases: Record<string, ReturnType<typeof base>>, fields: Partial<SarifRun> = {}): SarifRun {
  return { ...createRun(), uriBases: new Map(Object.entries(bases)), ...fields }
}

const path = (uri: string, uriBaseId: string | null = null, run = createRun()) =>
  getFileLocation(run, base(uri, uriBaseId)).path

test('a relative URI becomes a percent-decoded and normalized path', () => {
  assert.equal(path('src/My%20File%2B.cs'), 'src/My File+.cs')
  assert.equal(path('./src//a/../b.ts'), 'src/b.ts')
  assert.equal(path('src\\win\\a.cs'), 'src/win/a.cs')
  assert.equal(path('100%/caf%C3%A9'), '100%/café')
})

test('no path contains `..`, whatever its encoding', () => {
  for (const uri of ['../../etc/passwd', '%2e%2e/etc/passwd', 'a/..%2f..%2fetc/passwd', '..\\etc\\passwd']) {
    assert.ok(!path(uri)?.includes('..'), uri)
  }
  fc.assert(
    fc.property(fc.array(fc.constantFrom('..', '.', '%2e', '/', '%2F', '\\', 'a', '%5c', 'file:', '%')), (parts) => {
      assert.ok(!path(parts.join(''))?.split('/').includes('..'))
    }),
  )
})

test('a path below the top of the repository is relative to it, even with an absolute base', () => {
  const run = runWith({ '%SRCROOT%': base('file:///home/me/project/'), ROOTPATH: base('file:///') })
  assert.equal(path('src/a.ts', '%SRCROOT%', run), 'src/a.ts')
  assert.equal(path('src/a.ts', 'ROOTPATH', run), 'src/a.ts')
  assert.equal(path('src/a.ts', 'UNKNOWN', run), 'src/a.ts')
})

test('a base below the top of the repository is part of the path', () => {
  const run = runWith({ PROJECTROOT: base('file://host/checkout/'), SRC: base(' src/', 'PROJECTROOT') })
  assert.equal(path('a.c', 'SRC', run), 'src/a.c')
})

test('bases that refer to each other end after a bounded number of steps', () => {
  const run = runWith({ A: base('a/', 'B'), B: base('b/', 'A') })
  assert.match(path('x.c', 'A', run) ?? '', /x\.c$/)
})

test('an absolute path below the known top of the repository becomes relative to it', () => {
  const run = createRun()
  run.rootDirectories = ['/home/me/project']
  assert.equal(path('file:///home/me/project/src/a.ts', null, run), 'src/a.ts')
  assert.equal(path('file:///home/me/project2/a.ts', null, run), '/home/me/project2/a.ts')
})

function runIn(...directories: string[]): SarifRun {
  const run = createRun()
  run.checkout.set(directories)
  return run
}

test('the inferred checkout directory is removed, however a tool writes it', () => {
  const run = runIn('/builds/acme/repo', 'C:/agent/_work/7/s')
  assert.equal(path('file:///builds/acme/repo/src/a.ts', null, run), 'src/a.ts')
  assert.equal(path('file:///builds/acme/repository/a.ts', null, run), 'builds/acme/repository/a.ts')
  assert.equal(path('/builds/acme/./x/../repo/src/../../repo/a.ts', null, run), 'a.ts')
  for (const uri of ['C:\\agent\\_work\\7\\s\\a.ts', 'file:///c%3A/agent/_work/7/s/a.ts', 'c:/agent/_work/7/s/a.ts']) {
    assert.equal(path(uri, null, run), 'a.ts', uri)
  }
  assert.equal(path('/builds/acme/repo', null, run), 'builds/acme/repo')
  run.isImage = true
  assert.equal(path('/var/lib/dpkg/status', null, run), '/var/lib/dpkg/status')
})

test('the checkout is wanted once an absolute path is not explained', () => {
  const run = createRun()
  run.rootDirectories = ['/home/me/project']
  for (const uri of ['src/a.ts', '../a.ts', 'https://shop.example/a', 'file:///home/me/project/a.ts'])
    path(uri, null, run)
  assert.equal(run.checkout.isWanted, false)
  path('/other/a.ts', null, run)
  assert.equal(run.checkout.isWanted, true)
})

test('the text that Scorecard writes for a missing file is not a path', () => {
  assert.equal(path('no file associated with this alert', '%SRCROOT%'), null)
})

test('an absolute path without a scheme is treated like a file URI', () => {
  assert.equal(path('/github/workspace/src/a.ts', null, runIn('/github/workspace')), 'src/a.ts')
  assert.equal(path('/src/a.ts', '%SRCROOT%'), 'src/a.ts')
  assert.equal(path('/src/a.ts'), '/src/a.ts')
})

test('all forms of file URIs are supported', () => {
  assert.equal(path('file:///C:/dev/a.cs'), 'C:/dev/a.cs')
  assert.equal(path('file:////src/a.js'), '/src/a.js')
  assert.equal(path('file://host/share/a.js'), '/share/a.js')
  assert.equal(path('file:/src/a.js'), '/src/a.js')
})

test('a web address is not a path', () => {
  assert.deepEqual(getFileLocation(createRun(), base('https://shop.example/a')), {
    path: null,
    address: 'https://shop.example/a',
  })
})

test('an artifact index is resolved like a URI', () => {
  const run = { ...createRun(), artifacts: [base('src/a.ts', '%SRCROOT%')] }
  assert.equal(getFileLocation(run, { uri: null, uriBaseId: null, index: 0 }).path, 'src/a.ts')
  assert.equal(getFileLocation(run, { uri: null, uriBaseId: null, index: 7 }).path, null)
})

test('JSON, a sentence and "/" are no paths; what is said in them is the address', () => {
  const found = (uri: string) => getFileLocation(createRun(), base(uri))
  for (const uri of ['/', '', 'file:///', 'N/A', 'not_found_from_package_manager_files'])
    assert.deepEqual(found(uri), { path: null, address: null }, uri)
  assert.deepEqual(found('%7B%22service%22%3A%22web%22%7D'), { path: null, address: '{"service":"web"}' })
  assert.deepEqual(found('the whole web service'), { path: null, address: 'the whole web service' })
  for (const file of ['My Documents/the first one', 'my first script.py', '{{cookiecutter.name}}/setup.py', '[id].tsx'])
    assert.equal(found(file).path, file)
})

test('a path keeps its drive', () => assert.equal(path('C:\\agent\\x.c'), 'C:/agent/x.c'))

test('tops that differ below a common directory go in front of the paths, unless they are one checkout', async () => {
  const run = (top: string) => ({
    tool: { driver: { name: 'Snyk Open Source' } },
    originalUriBaseIds: { PROJECTROOT: { uri: `file://${top}/` } },
    results: [
      {
        ruleId: 'R',
        message: { text: 'm' },
        locations: [{ physicalLocation: { artifactLocation: { uri: 'package.json', uriBaseId: 'PROJECTROOT' } } }],
      },
    ],
  })
  const paths = async (...tops: string[]) =>
    (await parseReport({ version: '2.1.0', runs: tops.map(run) })).findings.map((finding) => finding.path)
  assert.deepEqual(await paths('/ci/app/services/a', '/ci/app/services/b'), ['a/package.json', 'b/package.json'])
  assert.deepEqual(await paths('/ci/app', '/ci/app/web'), ['package.json', 'web/package.json'])
  assert.deepEqual(await paths('/builds/1/app', '/builds/2/app'), ['package.json', 'package.json'])
  assert.deepEqual(await paths('/tmp/x1', '/tmp/x2'), ['package.json', 'package.json'])
  assert.deepEqual(await paths('/ci/app'), ['package.json'])
})
