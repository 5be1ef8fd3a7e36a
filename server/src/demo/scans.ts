import { hash } from 'node:crypto'
import { DAY_MS } from '../platform/clock.ts'
import { completeUpload } from '../security/uploads/complete-upload.ts'
import { createUpload } from '../security/uploads/create-upload.ts'
import { getReportKey } from '../security/uploads/upload-file.ts'
import { type DemoRepository, formatFullName, HOSTED } from './world/company.ts'
import type { Demo, Step } from './world/demo.ts'
import { getComponents } from './world/packages.ts'
import {
  renderCyclonedx,
  renderGrypeSarif,
  renderSarif,
  renderSpdx,
  saveDemoFile,
  toFile,
} from './world/report-files.ts'
import { ADVISORIES, getWeaknesses } from './world/weaknesses.ts'

const SCAN_EVERY_DAYS = 13
const FIRST_SCAN_DAYS = 86

/** What is scanned. The repositories without a code host are scanned, too. */
const SCANNED: readonly Pick<DemoRepository, 'name' | 'language' | 'isService'>[] = [
  ...HOSTED,
  { name: 'data-pipeline', language: 'python', isService: false },
  { name: 'legacy-billing', language: 'java', isService: false },
]

/** The scans of all repositories: code, dependencies, secrets and images, by several scanners. */
export function makeScanSteps(demo: Demo): Step[] {
  return SCANNED.flatMap((scanned, index) => {
    const steps: Step[] = []
    for (let days = FIRST_SCAN_DAYS - index; days >= 0; days -= SCAN_EVERY_DAYS) {
      const at = new Date(demo.now.getTime() - days * DAY_MS - (index * 17 + 25) * 60_000)
      steps.push({ at, tell: (told) => scan(told, scanned, days) })
    }
    return steps
  })
}

type Scanned = (typeof SCANNED)[number]

async function scan(demo: Demo, { name, language, isService }: Scanned, daysAgo: number): Promise<void> {
  const present = getWeaknesses(name, language).filter(({ rule }) => isPresent(`${name} ${rule}`, daysAgo))
  for (const [tool, version] of [
    ['semgrep', '1.78.0'],
    ['gitleaks', '8.18.4'],
    ['checkov', '3.2.150'],
  ] as const) {
    const results = present.filter((weakness) => weakness.tool === tool)
    const isUsed = getWeaknesses(name, language).some((weakness) => weakness.tool === tool)
    if (isUsed) await upload(demo, name, { file: `${tool}.sarif`, text: renderSarif({ name: tool, version }, results) })
  }
  const components = getComponents(name)
  if (components.length === 0) return
  const known = components.flatMap((component) =>
    ADVISORIES.filter(
      (advisory) => advisory.package === component.name && isPresent(`${name} ${advisory.id}`, daysAgo),
    ).map((advisory) => ({ advisory, component })),
  )
  const at = demo.clock.now()
  const text = renderCyclonedx({ name, version: '1', at, components, vulnerabilities: known, tool: 'trivy' })
  await upload(demo, name, { file: 'trivy.cdx.json', text, category: 'dependencies' })
  if (isService && daysAgo < 45)
    await upload(demo, name, { file: 'grype.sarif', text: renderGrypeSarif(name, known), category: 'image' })
  if (daysAgo < SCAN_EVERY_DAYS)
    await upload(demo, name, { file: 'sbom.spdx.json', text: renderSpdx(name, at, components), category: 'sbom' })
}

/**
 * Whether a weakness is in the repository so many days ago. A third is new in the last weeks, a
 * third was fixed, and the same ones every time.
 */
function isPresent(what: string, daysAgo: number): boolean {
  const digest = Buffer.from(hash('sha256', what, 'hex'), 'hex')
  const [kind = 0, from = 0, length = 0] = digest
  if (kind < 90) return daysAgo <= 8 + (from % 70)
  if (kind < 190) return daysAgo <= 90 - (from % 20) && daysAgo > 70 - (from % 20) - (length % 50)
  return true
}

type Report = { file: string; text: string; category?: string }

async function upload(demo: Demo, repository: string, { file, text, category }: Report): Promise<void> {
  const actor = demo.key('security-scans')
  const stored = toFile(file, text)
  const { json } = await createUpload(demo.services, actor, {
    filename: file,
    size: stored.size,
    sha256: stored.sha256,
    format: 'auto',
    repository: formatFullName(repository),
    provider: null,
    repositoryId: null,
    commitSha: hash('sha1', `${repository} ${demo.clock.now().toISOString()}`, 'hex'),
    ...(category && { category }),
  })
  const { id } = JSON.parse(json) as { id: string }
  await saveDemoFile(demo.services, getReportKey(actor.org_id, id), stored, 'application/json')
  await completeUpload(demo.services, actor, id)
  await demo.settle()
}
