import type { Services } from '../../services.ts'

const TIMEOUT_MS = 10_000

type Mail = { to: string; subject: string; text: string }

/** What happened to a message. Without SMTP settings, whoever made the link passes it on. */
export type MailStatus = 'not_configured' | 'sent' | 'failed'

/**
 * Sends a message by SMTP. A failure is logged and returned, not thrown: the link that the message
 * contains can be made again. Neither the message nor the credentials of the server are logged.
 */
export async function sendMail({ config, log }: Pick<Services, 'config' | 'log'>, mail: Mail): Promise<MailStatus> {
  if (config.smtp === null) return 'not_configured'
  const { createTransport } = await import('nodemailer')
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS }
  const transport = createTransport({
    url: config.smtp.url,
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transport.sendMail({ from: config.smtp.from, ...mail })
    return 'sent'
  } catch (error) {
    const { code, responseCode } = error as { code?: string; responseCode?: number }
    log.warn({ code, responseCode }, 'Could not send an email')
    return 'failed'
  } finally {
    transport.close()
  }
}
