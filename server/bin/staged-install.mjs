// Installs a part of package-lock.json: what some workspaces need, without packages for developers.
// npm can leave out all optional packages of a workspace, but not one of them, so it gets manifests
// without the ones that are not needed. Plain JavaScript without packages, like the launcher.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hasNewNode, ROOT } from './supervise.mjs'

const STAGES = join(ROOT, '.cache')
/** The Node.js that npm installs where the machine's own is too old. */
const NODE = /^node-(?:bin-)?(?:linux|darwin)-/
/** Packages of workspaces for their developers: types, and what generates or checks them. */
const FOR_DEVELOPERS = /^(?:@types\/|axe-core$|openapi-typescript$|typescript$)/
const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies']
const FLAGS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--include=dev',
  '--include=optional',
  '--install-strategy=hoisted',
]

/** A directory with the manifests, in which `npm ci` with the arguments installs what the workspaces need. */
export function makeStage(workspaces) {
  mkdirSync(STAGES, { recursive: true })
  removeAbandoned()
  const stage = mkdtempSync(join(STAGES, `install-${process.pid}-`))
  const lock = readJson('package-lock.json')
  // The root and its workspaces; the others are what is installed.
  const manifests = Object.keys(lock.packages).filter((path) => !path.includes('node_modules/'))
  for (const path of manifests) {
    const entry = prune(readJson(join(path, 'package.json')), path)
    write(stage, join(path, 'package.json'), entry)
    prune(lock.packages[path], path)
    const bin = join(ROOT, path, 'bin')
    if (path !== '' && existsSync(bin)) cpSync(bin, join(stage, path, 'bin'), { recursive: true })
  }
  if (hasNewNode()) for (const path of Object.keys(lock.packages)) if (isNode(path)) delete lock.packages[path]
  write(stage, 'package-lock.json', lock)
  cpSync(join(ROOT, '.npmrc'), join(stage, '.npmrc'))
  return { stage, args: ['ci', ...FLAGS, ...workspaces.map((name) => `--workspace=${name}`)] }
}

/** Removes what killed installations have left. */
function removeAbandoned() {
  for (const name of readdirSync(STAGES)) {
    const pid = Number(/^install-(\d+)-/.exec(name)?.[1])
    if (pid && !isAlive(pid)) rmSync(join(STAGES, name), { recursive: true, force: true })
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** Takes out of a manifest, or of its entry in package-lock.json, what is not needed. */
function prune(manifest, path) {
  for (const kind of KINDS) {
    const names = Object.keys(manifest[kind] ?? {})
    for (const name of names) if (isLeftOut(name, path)) delete manifest[kind][name]
  }
  return manifest
}

/** The packages of the root are those of developers. */
function isLeftOut(name, path) {
  return path === '' || FOR_DEVELOPERS.test(name) || (hasNewNode() && NODE.test(name))
}

function isNode(path) {
  return path.startsWith('node_modules/') && NODE.test(path.slice('node_modules/'.length))
}

function readJson(path) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}

function write(stage, path, value) {
  mkdirSync(dirname(join(stage, path)), { recursive: true })
  writeFileSync(join(stage, path), `${JSON.stringify(value, null, 2)}\n`)
}
