import type { KeyObject } from 'node:crypto'
import type { Config } from '../../../../config.ts'
import { notConfigured } from '../../../../errors/codehosts.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { openSealedText, sealText } from '../../../../platform/crypto/sealed-text.ts'
import type { Db, Sql } from '../../../../platform/db/sql.ts'
import type { AppCredentials, AppSetupOptions, DescribedApp, HostApp } from '../../../code-host.ts'
import { findApp, type StoredApp, upsertApp } from './app.store.ts'
import { formatInstallUrl } from './app-manifest.ts'
import { startSetup } from './start-setup.ts'

/** The secrets of an App, as they are sealed. */
type AppSecrets = { private_key: string; webhook_secret: string }

export type NewApp = Pick<StoredApp, 'api_url' | 'app_id' | 'slug' | 'html_url'> & AppSecrets

type AppCredentialsOptions = { config: Config; sql: Sql; clock: Clock; sealingKey: KeyObject }

/** How soon a process notices an App that another process has stored. */
const CACHED_MS = 5_000
const ABSENCE_CACHED_MS = 1_000

/**
 * Our App at GitHub. Its credentials are those of the environment, otherwise those that the
 * manifest flow stored in the database.
 */
export class GithubApp implements HostApp {
  readonly #options: AppCredentialsOptions
  #cached: { credentials: AppCredentials | null; until: number } | null = null

  constructor(options: AppCredentialsOptions) {
    this.#options = options
  }

  /** Null while no credentials are configured. Throws `SealError` if the secret key has changed. */
  async read(): Promise<AppCredentials | null> {
    const { config, clock } = this.#options
    if (config.hostApps.github) {
      const { appId, privateKey, webhookSecrets, apiUrl } = config.hostApps.github
      return { app_id: appId, private_key: privateKey, webhook_secrets: webhookSecrets, api_url: apiUrl }
    }
    const now = clock.now().getTime()
    if (this.#cached && now < this.#cached.until) return this.#cached.credentials
    const credentials = await this.#readStored()
    this.#cached = { credentials, until: now + (credentials ? CACHED_MS : ABSENCE_CACHED_MS) }
    return credentials
  }

  /** Throws 409 `not_configured` with the ways to configure an App. */
  async require(): Promise<AppCredentials> {
    const credentials = await this.read()
    if (credentials) return credentials
    const settings = 'SHIPLOCK_GITHUB_APP_ID, SHIPLOCK_GITHUB_PRIVATE_KEY and SHIPLOCK_GITHUB_WEBHOOK_SECRET'
    const message = `No GitHub App is configured. Set ${settings}, or run "provider setup github".`
    throw notConfigured(message)
  }

  /** Stores an App, sealed. This process uses it at once, the others within seconds. */
  async store({ private_key, webhook_secret, ...app }: NewApp): Promise<void> {
    const { sql, clock, sealingKey } = this.#options
    const secrets: AppSecrets = { private_key, webhook_secret }
    const sealed = sealText(sealingKey, formatLabel(app.api_url), JSON.stringify(secrets))
    await upsertApp(sql, { ...app, sealed }, clock.now())
    this.#cached = null
  }

  async describe(org: string): Promise<DescribedApp> {
    const { config, sql } = this.#options
    if (config.hostApps.github) return { source: 'environment', slug: null, install_url: null }
    const app = await findApp(sql, config.codeHosts.github.url)
    if (app === null) return { source: null, slug: null, install_url: null }
    return { source: 'setup', slug: app.slug, install_url: formatInstallUrl(app, org) }
  }

  startSetup(db: Db, options: AppSetupOptions): Promise<{ url: string; expires_at: Date }> {
    return startSetup({ ...this.#options, sql: db }, options)
  }

  async #readStored(): Promise<AppCredentials | null> {
    const { config, sql, sealingKey } = this.#options
    const app = await findApp(sql, config.codeHosts.github.url)
    if (!app) return null
    const secrets: AppSecrets = JSON.parse(openSealedText(sealingKey, formatLabel(app.api_url), app.sealed))
    const { app_id, api_url } = app
    return { app_id, api_url, private_key: secrets.private_key, webhook_secrets: [secrets.webhook_secret] }
  }
}

function formatLabel(apiUrl: string): string {
  return `github app ${apiUrl}`
}
