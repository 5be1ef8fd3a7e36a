import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { normalizeRepository, RepositoryAddressError } from './repository-address.ts'

const SAME: [normal: string, forms: string[]][] = [
  [
    'github.com/acme/api',
    [
      'github.com/acme/api',
      'GitHub.COM/acme/api',
      ' github.com/acme/api/ ',
      'github.com/acme/api.git',
      'https://github.com/acme/api',
      'https://github.com/acme/api/',
      'https://github.com/acme/api.git',
      'https://github.com/acme/api.git/',
      'https://github.com:443/acme/api',
      'HTTPS://GITHUB.COM/acme/api.GIT',
      'http://github.com:80/acme/api',
      'git+https://github.com/acme/api.git',
      'https://github.com//acme//api',
      'git@github.com:acme/api',
      'git@github.com:acme/api.git',
      'git@github.com:/acme/api.git',
      'github.com:acme/api',
      'ssh://git@github.com/acme/api.git',
      'ssh://git@github.com:22/acme/api',
      'git+ssh://git@github.com/acme/api.git',
      'git://github.com:9418/acme/api.git',
    ],
  ],
  [
    'git.example.com:8443/acme/api',
    [
      'https://git.example.com:8443/acme/api',
      'git.example.com:8443/acme/api',
      'ssh://git@Git.Example.com:8443/acme/api.git',
    ],
  ],
  ['gitlab.com/group/sub/deep/api', ['https://gitlab.com/group/sub/deep/api.git', 'git@gitlab.com:group/sub/deep/api']],
  ['github.com/Acme/API', ['https://github.com/Acme/API']],
  ['github.com/acme/api.git-tools', ['git@github.com:acme/api.git-tools.git']],
  [
    'dev.azure.com/acme/My Project/api',
    [
      'https://dev.azure.com/acme/My%20Project/_git/api',
      'https://dev.azure.com/acme/My%20Project/api',
      'git@ssh.dev.azure.com:v3/acme/My%20Project/api'.replace('%20', ' '),
      'ssh://git@ssh.dev.azure.com/v3/acme/My%20Project/api',
      'acme@vs-ssh.visualstudio.com:v3/acme/My Project/api',
      'https://acme.visualstudio.com/My%20Project/_git/api',
      'https://ACME.visualstudio.com/DefaultCollection/My%20Project/_git/api',
    ],
  ],
  ['dev.azure.com/acme/shop/shop', ['https://dev.azure.com/acme/_git/shop', 'https://acme.visualstudio.com/_git/shop']],
  // A project's key of Bitbucket Server is in lower case in the addresses to clone from.
  ['git.example.com/SHOP/web', ['ssh://git@git.example.com:7999/shop/web.git', 'git.example.com:7999/SHOP/web']],
  ['git.example.com/~ANN/web', ['ssh://git@git.example.com:7999/~ann/web.git']],
  // They can be the names of groups of a GitLab.
  ['git.example.com/scm/shop/web', ['https://git.example.com/scm/shop/web.git']],
  ['git.example.com/tfs/web/_git/shop', ['https://git.example.com/tfs/web/_git/shop']],
  ['gitlab.com/v3/acme/web/shop', ['git@gitlab.com:v3/acme/web/shop']],
  ['localhost/acme/api', ['localhost/acme/api', 'http://localhost/acme/api']],
]

for (const [normal, forms] of SAME) {
  for (const form of forms) {
    test(`${form} is ${normal}`, () => assert.equal(normalizeRepository(form), normal))
  }
}

const REFUSED = [
  '',
  'api',
  'acme/api',
  'https://github.com',
  'https://github.com/acme',
  'github.com/acme/.git',
  'github.com/acme/..',
  'github.com/../api',
  'github.com/acme/a\u0000pi',
  'github.com/acme/a\\pi',
  'github.com/acme/%2e%2e',
  'https://github.com/acme/%00',
  'https://github.com/acme/%e0%a4',
  'https://github.com/acme/api?token=x',
  'https://github.com/acme/api#readme',
  'file:///srv/git/acme/api',
  'javascript://github.com/acme/api',
  'https:///acme/api',
  '-host/acme/api',
  'https://user@github.com/acme/api',
  'https://user:secret@github.com/acme/api',
  'https://:secret@github.com/acme/api',
  'ssh://git:secret@github.com/acme/api',
  'ssh://deploy@github.com/acme/api',
  'user:secret@github.com/acme/api',
  'secret@github.com/acme/api',
]

for (const address of REFUSED) {
  test(`${JSON.stringify(address)} is refused with a message that does not contain it`, () => {
    assert.throws(
      () => normalizeRepository(address),
      (error) => error instanceof RepositoryAddressError && !error.message.includes('secret'),
    )
  })
}

const segment = fc.stringMatching(/^[A-Za-z0-9._~+@ -]{1,12}$/)
const host = fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9-]{0,5}\.[a-z]{2,4})?(:\d{1,5})?$/)
const prefix = fc.constantFrom('', 'https://', 'ssh://git@', 'git://', 'git@', 'http://')
const address = fc
  .tuple(
    prefix,
    host,
    fc.constantFrom('/', ':'),
    fc.array(segment, { minLength: 2, maxLength: 4 }),
    fc.constantFrom('', '.git', '/'),
  )
  .map(([start, name, separator, path, end]) => start + name + separator + path.join('/') + end)

test('a normalized address normalizes to itself', () => {
  let normalized = 0
  fc.assert(
    fc.property(fc.oneof(address, fc.string(), fc.webUrl()), (text) => {
      const once = attempt(text)
      if (once === null) return
      normalized += 1
      assert.equal(normalizeRepository(once), once)
      assert.match(once, /^[^/\s@]+(\/[^/]+){2,}$/)
      assert.doesNotMatch(once, /\.git$/i)
    }),
    { numRuns: 3000 },
  )
  assert.ok(normalized > 300, `only ${normalized} of the texts were addresses`)
})

/** Null when the text is not an address. Any other error is a defect and is thrown. */
function attempt(text: string): string | null {
  try {
    return normalizeRepository(text)
  } catch (error) {
    if (error instanceof RepositoryAddressError) return null
    throw error
  }
}
