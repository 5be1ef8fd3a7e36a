import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatPackageKey } from './package-key.ts'

const KEYS: readonly [type: string, name: string, key: string][] = [
  ['pypi', 'Django', 'django'],
  ['pypi', 'ruamel.yaml', 'ruamel-yaml'],
  ['pypi', 'zope._-interface', 'zope-interface'],
  ['golang', 'github.com/Masterminds/semver/v3', 'github.com/masterminds/semver/v3'],
  ['golang', 'std', 'stdlib'],
  ['golang', 'go', 'stdlib'],
  ['golang', 'stdlib', 'stdlib'],
  ['golang', 'github.com/x/go', 'github.com/x/go'],
  ['nuget', 'Newtonsoft.Json', 'newtonsoft.json'],
  ['composer', 'Symfony/HTTP-Kernel', 'symfony/http-kernel'],
  ['hex', 'Phoenix', 'phoenix'],
  ['pub', 'HTTP', 'http'],
  ['githubactions', 'Actions/Checkout', 'actions/checkout'],
  ['npm', '@Angular/Core', '@Angular/Core'],
  ['npm', 'JSONStream', 'JSONStream'],
  ['maven', 'org.Apache:Log4j', 'org.Apache:Log4j'],
  ['cargo', 'serde_json', 'serde_json'],
  ['gem', 'RedCloth', 'RedCloth'],
  ['deb', 'libc6', 'libc6'],
  // Only Go has a standard library of this name.
  ['hex', 'std', 'std'],
]

test('each ecosystem compares names by its own rule', () => {
  for (const [type, name, key] of KEYS) assert.equal(formatPackageKey(type, name), key, `${type} ${name}`)
})
