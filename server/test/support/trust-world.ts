import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Lane } from '../../src/ci/runs/trust.ts'
import { readReportFile } from '../../src/security/uploads/read-report-file.ts'
import type { Answer, TestApi } from './api.ts'
import { listFindings } from './findings.ts'
import type { Json } from './json.ts'
import { createTrust } from './oidc-issuer.ts'
import { createPerson, type Person, requestAs } from './people.ts'
import { newRunClaims, ownRun, startTokenCaller, type TokenCaller } from './token-caller.ts'

/**
 * Who speaks about a repository and its newest run: the job of that run, a job of another ref or
 * repository, a job in which code of strangers runs, jobs of central pipelines that may speak for
 * the repository as `uploaded` or `verified`, a key without Triage, and people.
 */
export const SENDERS = [
  'job',
  'other_ref',
  'stranger',
  'foreign',
  'scans',
  'releases',
  'key',
  'developer',
  'security',
] as const
export type Sender = (typeof SENDERS)[number]

/** The lanes in which they speak about the repository (trust §1). Null: they do not. */
export const LANES: Record<Sender, Lane | null> = {
  job: 'verified',
  other_ref: 'key',
  stranger: 'untrusted',
  foreign: null,
  scans: 'key',
  releases: 'verified',
  key: 'key',
  developer: 'person',
  security: 'person',
}

/** A run that the job of a repository of its own has registered. */
export type Shop = { claims: ReturnType<typeof newRunClaims>; repository: string; runId: string }

type Made = { caller: TokenCaller; developer: Person; security: Person; weakKey: string }

/** The repositories of the central pipelines. */
const CENTRAL = {
  scans: { repository: 'platform/scans', repository_id: '7770003' },
  releases: { repository: 'platform/releases', repository_id: '7770004' },
}

let shops = 0

/** An organization with everybody who speaks about its repositories. */
export class TrustWorld {
  readonly api: TestApi
  /** Its key may do everything, and only reads and completes here. */
  readonly caller: TokenCaller
  readonly #made: Made

  private constructor(api: TestApi, made: Made) {
    this.api = api
    this.caller = made.caller
    this.#made = made
  }

  static async start(api: TestApi): Promise<TrustWorld> {
    const caller = await startTokenCaller(api, { trust: { conditions: { repository: 'acme/*' } } })
    for (const [by, as] of [['scans', 'uploaded'] as const, ['releases', 'verified'] as const]) {
      const { repository } = CENTRAL[by]
      const terms = { conditions: { repository }, speaks_for: ['acme/*'], as }
      await createTrust(api, caller.orgId, { issuer: caller.issuerUrl, name: by, ...terms })
    }
    const of = { orgId: caller.orgId, slug: caller.slug }
    const developer = await createPerson(api, { ...of, role: 'developer' })
    const security = await createPerson(api, { ...of, role: 'security' })
    const scopes = ['write:ci', 'write:security-findings'] as const
    const { key: weakKey } = await api.caller({ orgId: caller.orgId, scopes: [...scopes] })
    return new TrustWorld(api, { caller, developer, security, weakKey })
  }

  close(): Promise<void> {
    return this.caller.close()
  }

  /** A new repository with a run on main. */
  async openShop(): Promise<Shop> {
    shops += 1
    const repository = `acme/shop-${shops}`
    // A commit of its own, because deployments of other repositories with the same one are asked again.
    const sha = shops.toString(16).padStart(40, '0')
    const claims = newRunClaims({ repository, repository_id: String(9_000_000 + shops), sha })
    const body = ownRun(claims, { repository: `github.com/${repository}`, commit_sha: sha })
    const { status, body: created, text } = await this.caller.send('POST', '/v1/ci/runs', body, claims)
    assert.equal(status, 201, text)
    return { claims, repository, runId: created.data.id }
  }

  async send({ claims }: Shop, by: Sender, method: string, path: string, body: object = {}): Promise<Answer> {
    const { caller, developer, security, weakKey } = this.#made
    if (by === 'developer' || by === 'security') {
      const person = by === 'developer' ? developer : security
      return requestAs(this.api, person, method, path.replace('/v1', ''), body)
    }
    if (by === 'key') return this.api.request(method, path, { key: weakKey, body })
    return caller.send(method, path, body, { ...claims, ...this.#differing(by) })
  }

  #differing(by: Sender): object {
    if (by === 'scans' || by === 'releases') return newRunClaims(CENTRAL[by])
    if (by === 'stranger') return { event_name: 'pull_request_target' }
    if (by === 'other_ref') return newRunClaims({ ref: 'refs/heads/feature' })
    return by === 'foreign' ? newRunClaims({ repository: 'acme/other', repository_id: '7770002' }) : {}
  }

  /** The findings that one lane has reported. */
  async findingsOf({ repository }: Shop, lane: Lane): Promise<Json[]> {
    const findings = await listFindings(this.api, this.caller, { repository })
    const ofLane = await this.api.services.sql<{ id: string }[]>`
      select finding.id
      from findings finding
      join finding_streams stream
        on stream.org_id = finding.org_id
        and stream.id = finding.stream_id
      where finding.org_id = ${this.caller.orgId}
        and stream.lane = ${lane}`
    const ids = new Set(ofLane.map(({ id }) => id))
    return findings.filter(({ id }) => ids.has(id))
  }

  /** Sends a report about main, until it has been read. Returns the answer to its registration. */
  async upload(shop: Shop, by: Sender, file: object, fields: object = {}): Promise<Answer> {
    const bytes = JSON.stringify(file)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    // A central pipeline names a repository by its name alone: nobody can say whose id it sends.
    const id = by === 'scans' || by === 'releases' ? {} : { repositoryId: shop.claims.repository_id }
    const of = { repository: shop.repository, provider: 'github', ...id }
    const asked = { filename: 'report.json', size: bytes.length, sha256, ...of, gitRef: 'refs/heads/main', ...fields }
    const answer = await this.send(shop, by, 'POST', '/v1/security/uploads', asked)
    if (answer.status >= 300) return answer
    const { upload, put } = answer.body.data
    if (put !== null) {
      await fetch(put.url, { method: 'PUT', headers: put.headers, body: bytes })
      await this.api.request('POST', `/v1/security/uploads/${upload.id}/complete`, { key: this.caller.key })
    }
    await readReportFile(this.api.services, { org_id: this.caller.orgId, upload_id: upload.id })
    return answer
  }
}
