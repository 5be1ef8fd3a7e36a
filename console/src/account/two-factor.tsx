import { Button, Code, CopyButton, Group, Modal, SimpleGrid, Stack, Text, TextInput } from '@mantine/core'
import { IconCopy, IconDownload, IconShieldCheck, IconShieldOff } from '@tabler/icons-react'
import { type FormEvent, useMemo, useState } from 'react'
import { encode } from 'uqr'
import { FormProblem, useAttempt } from '../actions/attempt.tsx'
import { ConfirmForm, Dialog, useDialog } from '../actions/dialog.tsx'
import { notifyDone, notifyFailed } from '../actions/notify.tsx'
import { useSession } from '../api/session.ts'
import { useApiMutation } from '../api/updates.ts'
import { ToneBadge } from '../page/badges.tsx'
import { AccountSection } from '../page/sections.tsx'

/** TOTP, and the recovery codes that replace it. */
export function TwoFactor() {
  const { sign_in_methods: methods } = useSession()
  const { mutateAsync: startTotp } = useApiMutation('post', '/app/api/account/totp', [])
  const { mutateAsync: renewCodes } = useApiMutation('post', '/app/api/account/recovery-codes', ['account'])
  const { mutateAsync: disableTotp } = useApiMutation('delete', '/app/api/account/totp', ['account'])
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const turningOff = useDialog<true>()
  const attempt = (title: string, work: () => Promise<unknown>) => work().catch((error) => notifyFailed(title, error))
  const start = async () => {
    const { data } = await startTotp({})
    setEnrolment(data)
  }
  const renew = async () => {
    const { data } = await renewCodes({})
    setCodes(data.recovery_codes)
  }
  const disable = async () => {
    await disableTotp({})
    notifyDone('Two-factor authentication is off.')
  }
  const onEnrolled = (recoveryCodes: string[]) => {
    setEnrolment(null)
    setCodes(recoveryCodes)
  }
  return (
    <AccountSection
      id="two-factor"
      title="Two-factor authentication"
      description="A sign-in with your password then also needs a code of an authenticator app."
    >
      <Group justify="space-between">
        {methods.totp ? (
          <Stack gap={4} align="flex-start">
            <ToneBadge tone="success" icon={IconShieldCheck}>
              On
            </ToneBadge>
            <Text size="sm" c="dimmed">
              {describeCodesLeft(methods.recovery_codes_left)}
            </Text>
          </Stack>
        ) : (
          <ToneBadge tone="neutral" icon={IconShieldOff}>
            Off
          </ToneBadge>
        )}
        <Group gap="xs">
          {methods.totp ? (
            <>
              <Button variant="default" onClick={() => attempt('The codes could not be made', renew)}>
                Make new recovery codes
              </Button>
              <Button variant="default" c="var(--shiplock-failure)" onClick={() => turningOff.open(true)}>
                Turn off
              </Button>
            </>
          ) : (
            <Button
              variant="default"
              disabled={!methods.password}
              onClick={() => attempt('Two-factor authentication could not be started', start)}
            >
              Turn on
            </Button>
          )}
        </Group>
      </Group>
      <TotpEnrolment enrolment={enrolment} onEnrolled={onEnrolled} onClose={() => setEnrolment(null)} />
      <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />
      <Dialog dialog={turningOff} title="Turn off two-factor authentication">
        {() => (
          <ConfirmForm confirmLabel="Turn off" send={disable} onClose={turningOff.close}>
            Your password alone then signs you in. Your recovery codes are removed, and you are signed out everywhere
            else.
          </ConfirmForm>
        )}
      </Dialog>
    </AccountSection>
  )
}

function describeCodesLeft(count: number): string {
  if (count === 0) return 'No recovery code is left. Make new ones.'
  return count === 1 ? '1 recovery code is left.' : `${count} recovery codes are left.`
}

type Enrolment = { secret: string; uri: string }

type TotpEnrolmentProps = {
  enrolment: Enrolment | null
  onEnrolled: (recoveryCodes: string[]) => void
  onClose: () => void
}

function TotpEnrolment({ enrolment, onEnrolled, onClose }: TotpEnrolmentProps) {
  return (
    <Modal opened={enrolment !== null} onClose={onClose} title="Turn on two-factor authentication">
      {enrolment && <EnrolmentForm enrolment={enrolment} onEnrolled={onEnrolled} />}
    </Modal>
  )
}

function EnrolmentForm({ enrolment, onEnrolled }: Pick<TotpEnrolmentProps, 'onEnrolled'> & { enrolment: Enrolment }) {
  const { mutateAsync: confirmTotp } = useApiMutation('post', '/app/api/account/totp/confirm', ['account'])
  const { isBusy, problem, run } = useAttempt()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const code = String(new FormData(event.currentTarget).get('code')).replaceAll(' ', '')
    run(async () => {
      const { data } = await confirmTotp({ body: { code } })
      onEnrolled(data.recovery_codes)
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">Scan this code with an authenticator app, then enter the six digits that the app shows.</Text>
        <QrCode text={enrolment.uri} />
        <Group justify="center" gap="xs">
          <Code>{enrolment.secret}</Code>
          <CopyButton value={enrolment.secret}>
            {({ copied, copy }) => (
              <Button variant="subtle" size="compact-sm" onClick={copy}>
                {copied ? 'Copied' : 'Copy key'}
              </Button>
            )}
          </CopyButton>
        </Group>
        <FormProblem problem={problem} />
        <TextInput
          label="Code"
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={20}
          required
          data-autofocus
        />
        <Button type="submit" loading={isBusy}>
          Turn on
        </Button>
      </Stack>
    </form>
  )
}

/** Dark on light in both themes, because cameras expect it. */
function QrCode({ text }: { text: string }) {
  const { path, size } = useMemo(() => drawCode(text), [text])
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width={184}
      height={184}
      role="img"
      aria-label="QR image of the key"
      shapeRendering="crispEdges"
      style={{ alignSelf: 'center', borderRadius: 8 }}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function drawCode(text: string): { path: string; size: number } {
  const { data, size } = encode(text, { ecc: 'M', border: 3 })
  const squares = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return { path: squares.join(''), size }
}

type RecoveryCodesProps = { codes: string[] | null; onClose: () => void }

/** Recovery codes, which are shown once. */
function RecoveryCodes({ codes, onClose }: RecoveryCodesProps) {
  const text = codes?.join('\n') ?? ''
  return (
    <Modal
      opened={codes !== null}
      onClose={onClose}
      title="Save your recovery codes"
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Stack>
        <Text size="sm">
          Each code signs you in once if you lose your authenticator app. They are not shown again, and earlier codes no
          longer work.
        </Text>
        <SimpleGrid
          cols={2}
          spacing={6}
          component="ul"
          p="sm"
          m={0}
          style={{ listStyle: 'none' }}
          bg="var(--shiplock-surface)"
        >
          {codes?.map((code) => (
            <Text key={code} component="li" ff="monospace" size="sm" ta="center">
              {code}
            </Text>
          ))}
        </SimpleGrid>
        <Group gap="xs">
          <CopyButton value={text}>
            {({ copied, copy }) => (
              <Button variant="default" leftSection={<IconCopy size={16} aria-hidden />} onClick={copy}>
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
          <Button
            component="a"
            variant="default"
            leftSection={<IconDownload size={16} aria-hidden />}
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
            download="shiplock-recovery-codes.txt"
          >
            Download
          </Button>
          <Button ml="auto" onClick={onClose}>
            I have saved them
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
