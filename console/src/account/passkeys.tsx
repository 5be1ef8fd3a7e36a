import { Button, Stack, Text } from '@mantine/core'
import { IconKey, IconPlus } from '@tabler/icons-react'
import { notifyDone } from '../actions/notify.tsx'
import { createPasskey, passkeyObstacle } from '../actions/passkeys.ts'
import { useAttempt } from '../actions/use-attempt.ts'
import { api } from '../api/client.ts'
import { useApiMutation } from '../api/updates.ts'
import { deviceName } from '../page/device-name.ts'
import { FormProblem } from '../page/form-problem.tsx'
import { LineSkeleton, QueryView } from '../page/query-view.tsx'
import { AccountSection } from './account-section.tsx'
import { PasskeyRow } from './passkey-row.tsx'

export function Passkeys() {
  const { mutateAsync: fetchOptions } = useApiMutation('post', '/app/api/account/passkeys/options', [])
  const { mutateAsync: addPasskey } = useApiMutation('post', '/app/api/account/passkeys', ['account'])
  const query = api.useQuery('get', '/app/api/account/passkeys')
  const { isBusy, problem, run } = useAttempt()
  const obstacle = passkeyObstacle()
  const add = async () => {
    const options = await fetchOptions({})
    if (!options.data) return
    const credential = await createPasskey(options.data)
    await addPasskey({ body: { name: deviceName(navigator.userAgent), credential } })
    notifyDone('The passkey was added.')
  }
  return (
    <AccountSection
      id="passkeys"
      title="Passkeys"
      description="Sign in with your fingerprint, face, PIN or security key. Nobody can steal a passkey from a server."
      actions={
        <Button
          variant="default"
          leftSection={<IconPlus size={16} aria-hidden />}
          disabled={obstacle !== null}
          loading={isBusy}
          onClick={() => run(add)}
        >
          Add a passkey
        </Button>
      }
    >
      <Stack gap="sm">
        <FormProblem problem={problem} />
        {obstacle && (
          <Text size="sm" c="dimmed">
            {obstacle}
          </Text>
        )}
        <QueryView query={query} of="passkeys" skeleton={<LineSkeleton lines={2} height={36} />}>
          {({ data }) =>
            data.length === 0 ? (
              <Text size="sm" c="dimmed">
                <IconKey size={16} aria-hidden style={{ verticalAlign: '-3px' }} /> You have no passkey yet.
              </Text>
            ) : (
              <Stack component="ul" gap="sm" p={0} m={0} style={{ listStyle: 'none' }}>
                {data.map((passkey) => (
                  <PasskeyRow key={passkey.id} passkey={passkey} />
                ))}
              </Stack>
            )
          }
        </QueryView>
      </Stack>
    </AccountSection>
  )
}
