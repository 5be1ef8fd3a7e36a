/** What identifies Shiplock's App at GitHub. */
export type AppCredentials = {
  app_id: string
  /** PEM. */
  private_key: string
  /** More than one while the secret is rotated. */
  webhook_secrets: readonly string[]
  /** `https://api.github.com`, or `https://HOST/api/v3` of an Enterprise Server. */
  api_url: string
}

/** Null while no credentials are configured. They may change while the program runs. */
export type ReadAppCredentials = () => Promise<AppCredentials | null>
