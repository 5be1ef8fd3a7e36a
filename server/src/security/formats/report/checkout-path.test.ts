import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutCheckout } from './checkout-path.ts'

/** Below the home directory of the account that a CI system runs as. */
const inHome = (top: string, account: string, rest: string) => `/${top}/${account}/${rest}`

test('a path in the checkout of a CI system becomes relative to the repository', () => {
  const checkouts = [
    '/github/workspace',
    '/__w/app/app',
    inHome('home', 'runner', 'work/app/app'),
    inHome('Users', 'runner', 'work/app/app'),
    'D:/a/app/app',
    'd:/a/1/s',
    inHome('home', 'vsts', 'work/1/s'),
    '/builds/acme/app',
    '/home/circleci/project',
    '/opt/atlassian/pipelines/agent/build',
    '/home/travis/build/acme/app',
    '/var/lib/jenkins/workspace/app_main',
    '/var/jenkins_home/workspace/app_main',
    '/home/jenkins/agent/workspace/app_main',
    '/drone/src',
  ]
  for (const checkout of checkouts) assert.equal(withoutCheckout(`${checkout}/src/a.ts`), 'src/a.ts', checkout)
})

test('any other path is unchanged', () => {
  const paths = ['src/github/workspace/a.ts', '/usr/lib/a.so', '/github/workspace', 'builds/a/b/c.ts', 'D:/b/a.ts', '']
  for (const path of paths) assert.equal(withoutCheckout(path), path)
})
