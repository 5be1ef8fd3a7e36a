import { Button, Group, Stack, Text } from '@mantine/core'
import { IconShieldCheck, IconShieldOff } from '@tabler/icons-react'
import { useState } from 'react'
import { ConfirmForm } from '../actions/confirm-form.tsx'
import { Dialog, useDialog } from '../actions/dialog.tsx'
import { notifyDone, notifyFailed } from '../actions/notify.tsx'
import { useSession } from '../api/session.ts'
import { useApiMutation } from '../api/updates.ts'
import { ToneBadge } from '../page/badges.tsx'
import { AccountSection } from './account-section.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import { type Enrolment, TotpEnrolment } from './totp-enrolment.tsx'

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
