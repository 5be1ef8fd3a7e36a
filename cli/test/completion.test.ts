import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { HOME, shiplock, temporaryDirectory } from './support/program.ts'
import { onTerminal } from './support/terminal.ts'

const directory = temporaryDirectory()
writeFileSync(join(directory, 'my report.sarif'), '')
mkdirSync(join(directory, 'scans'))

const scripts = Object.fromEntries(
  await Promise.all(
    ['bash', 'zsh', 'fish'].map(async (shell) => {
      const { code, stdout } = await shiplock(['completion', shell])
      assert.equal(code, 0)
      const path = join(directory, shell === 'zsh' ? '_shiplock' : `shiplock.${shell}`)
      writeFileSync(path, stdout)
      return [shell, path]
    }),
  ),
)

/** What a shell offers after the words; the last one is not complete. */
const ASK: Record<string, (words: string[]) => string[]> = {
  bash: (words) =>
    run('bash', [
      '--norc',
      '-c',
      `source '${scripts.bash}'; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shiplock; printf '%s\\n' "\${COMPREPLY[@]}"`,
      'bash',
      ...words,
    ]),
  fish: (words) => {
    const line = words.map((word) => word.replace(/ /g, '\\ ')).join(' ')
    return run('fish', ['--no-config', '-c', `source '${scripts.fish}'; complete -C '${line}'`]).map(
      (offer) => offer.split('\t')[0] ?? '',
    )
  },
}

function run(shell: string, args: string[]): string[] {
  const { stdout, stderr } = spawnSync(shell, args, {
    cwd: directory,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME },
  })
  assert.equal(stderr, '')
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .sort()
}

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['-c', 'exit 0']).status === 0
}

const CASES: [words: string[], offered: string[]][] = [
  [['shiplock', 'u'], ['upload']],
  [
    ['shiplock', 'ru'],
    ['run', 'runs'],
  ],
  [
    ['shiplock', 'run', ''],
    ['exec', 'finish', 'start'],
  ],
  [['shiplock', 'run', 'f'], ['finish']],
  [['shiplock', 'gate', ''], ['open']],
  [['shiplock', 'run', 'finish', '--st'], ['--status']],
  [
    ['shiplock', 'run', 'finish', '--status', 's'],
    ['skipped', 'success'],
  ],
  [['shiplock', 'completion', 'f'], ['fish']],
  [['shiplock', 'upload', '--no'], ['--no-wait']],
  [['shiplock', 'upload', 'my'], ['my report.sarif']],
  [['shiplock', 'upload', '--category', ''], []],
  [['shiplock', 'verify', '--key', 'sca'], ['scans']],
]

for (const shell of Object.keys(ASK)) {
  test(`${shell}: completes commands, options, values and files`, {
    skip: !isInstalled(shell) && `${shell} is not installed`,
  }, () => {
    for (const [words, offered] of CASES) {
      const found = ASK[shell]?.(words).map((word) => word.replace(/\/$/, '').replace(/\\ /g, ' '))
      assert.deepEqual(found, offered, words.join(' '))
    }
  })
}

test('bash: the value after an equals sign', () => {
  assert.deepEqual(ASK.bash?.(['shiplock', 'run', 'finish', '--status', '=', 'su']), ['success'])
})

test('bash: run exec completes programs after --', () => {
  assert.ok(ASK.bash?.(['shiplock', 'run', 'exec', '--', 'mkd']).includes('mkdir'))
  assert.deepEqual(ASK.bash?.(['shiplock', 'run', 'exec', '--', 'cat', 'my']), ['my report.sarif'])
})

const ZSH: [typed: string, completed: string][] = [
  ['shiplock upl', 'upload'],
  ['shiplock run fin', 'finish'],
  ['shiplock run finish --status suc', 'success'],
  ['shiplock upload --no-w', 'no-wait'],
  ['shiplock completion fi', 'fish'],
]

/** Types a line and a tab in an interactive zsh. Returns whether the line is completed. */
async function completesInZsh(typed: string, completed: string): Promise<boolean> {
  const setup = `PS1=; autoload -U compinit; fpath=('${directory}' $fpath); compinit -u -D; echo re""ady\r`
  const { screen } = await onTerminal(['/bin/sh', '-c', 'exec zsh -f -i'], {
    env: { TERM: 'dumb' },
    typed: [
      { after: '', type: setup },
      { after: 'ready', type: `${typed}\t` },
      { after: completed, type: '\u0015exit\r' },
    ],
  })
  return screen.includes(completed)
}

const skipZsh = !isInstalled('zsh') && 'zsh is not installed'

test('zsh: completes commands, options and values', { skip: skipZsh }, async () => {
  for (const [typed, completed] of ZSH) assert.ok(await completesInZsh(typed, completed), typed)
})

test('zsh: the script can be sourced', { skip: skipZsh }, () => {
  const script = `autoload -U compinit; compinit -u -D; source '${scripts.zsh}'; print $_comps[shiplock]`
  assert.equal(spawnSync('zsh', ['-f', '-c', script], { encoding: 'utf8' }).stdout, '_shiplock\n')
})

test('2: another shell', async () => {
  const { code, stderr } = await shiplock(['completion', 'tcsh'])
  assert.equal(code, 2)
  assert.match(stderr, /SHELL must be one of bash, zsh, fish, not "tcsh"/)
})
