import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { issuerUnderTest } from '../support/verifiers/issuer.ts'
import { verifierPaths } from '../support/verifiers/verifiers.ts'

const ROOT = new URL('../../../', import.meta.url).pathname
const issuer = issuerUnderTest()
const { cosign, fsck, python } = verifierPaths()

/** The commands of the page, in their order. */
const page = readFileSync(join(ROOT, 'docs/provenance.md'), 'utf8')
const [fetching = '', ...verifying] = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] as string)

const directory = mkdtempSync(join(tmpdir(), 'shiplock-docs-'))
before(() => {
  const programs = { cosign, fsck, shiplock: join(ROOT, 'cli/bin/shiplock.mjs'), node: process.execPath }
  for (const [name, path] of Object.entries(programs)) symlinkSync(path, join(directory, name))
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'artifact'), issuer.artifact.bytes)
})
after(() => rmSync(directory, { recursive: true }))

function runShell(script: string) {
  const { url: SERVER, key: KEY, commit: COMMIT, ids } = issuer
  const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: directory,
    encoding: 'utf8',
    env: {
      ...{ SERVER, KEY, COMMIT, CHANGE: ids.change, DEPLOYMENT: ids.deployment, BUILD: ids.reported, HOME: directory },
      PATH: [directory, dirname(python), process.env.PATH].join(delimiter),
    },
  })
  return { status, output: stdout + stderr }
}

test('the commands of docs/provenance.md verify the statements', () => {
  assert.ok(verifying.length >= 7)
  const { status, output } = runShell([fetching, ...verifying].join('\n'))
  assert.equal(status, 0, output)
  assert.equal(output.match(/^Verified\.$/gm)?.length, 5, output)
  assert.equal(output.match(/^Verified OK$/gm)?.length, 5, output)
})

/**
 * The parts that verify a statement with one tool. The others prepare files, or are about the log.
 */
const TOOLS = verifying.filter((commands) => /^(?:shiplock|cosign|python -|cat > verify)/.test(commands))

test('each part of the page that verifies statements refuses another signature', () => {
  assert.equal(TOOLS.length, 5)
  const [prepare = ''] = verifying.filter((commands) => commands.startsWith('python3 -'))
  for (const commands of TOOLS) {
    const { status, output } = runShell([fetching, TAMPER, prepare, commands].join('\n'))
    assert.notEqual(status, 0, output)
  }
})

/** Changes the first statement of each part, without changing the length of the signature. */
const TAMPER = `
for name in change build; do python3 - $name <<'EOF'
import base64, json, sys
name = sys.argv[1] + ".json"
statement = json.load(open(name))
signature = statement["data"]["envelope"]["signatures"][0]
sig = bytearray(base64.b64decode(signature["sig"]))
sig[-1] ^= 1
signature["sig"] = base64.b64encode(sig).decode()
json.dump(statement, open(name, "w"))
EOF
done
`
