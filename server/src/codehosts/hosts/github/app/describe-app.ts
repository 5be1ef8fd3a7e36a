import type { Services } from '../../../../services.ts'
import { findApp } from './app.store.ts'

/** The App of this server, without its secrets. */
export type DescribedApp = {
  /** Whether the environment or the manifest flow names the App. Null: there is none. */
  source: 'environment' | 'setup' | null
  /** The name of the App in addresses. Null if only GitHub knows it. */
  slug: string | null
  /** GitHub's page of the App. */
  html_url: string | null
}

export async function describeApp({ config, sql }: Pick<Services, 'config' | 'sql'>): Promise<DescribedApp> {
  if (config.github) return { source: 'environment', slug: null, html_url: null }
  const app = await findApp(sql, config.githubApiUrl)
  return app
    ? { source: 'setup', slug: app.slug, html_url: app.html_url }
    : { source: null, slug: null, html_url: null }
}
