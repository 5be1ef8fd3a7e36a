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
  const transport = await openTransport(config.smtp.url)
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

/** Throws if the mail server cannot be reached or does not accept us. Sends nothing. */
export async function verifyMailServer({ smtp }: Services['config']): Promise<void> {
  if (smtp === null) return
  const transport = await openTransport(smtp.url)
  try {
    await transport.verify()
  } catch (error) {
    // The message of the server can contain what we sent.
    const { code = 'no answer', responseCode } = error as { code?: string; responseCode?: number }
    throw new Error(`The mail server does not accept us (${[code, responseCode].filter(Boolean).join(' ')})`)
  } finally {
    transport.close()
  }
}

async function openTransport(url: string) {
  const { createTransport } = await import('nodemailer')
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS }
  return createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true })
}
