import { Button, Stack, Text } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { askForPasskey, passkeyObstacle } from '../actions/passkeys.ts'
import { useAttempt } from '../actions/use-attempt.ts'
import { client } from '../api/client.ts'
import { FormProblem } from '../page/form-problem.tsx'

/** The passkey tells which account it is for, so there is nothing to type. */
export function PasskeyButton({ onSignedIn }: { onSignedIn: () => void }) {
  const { isBusy, problem, run } = useAttempt()
  const obstacle = passkeyObstacle()
  const signIn = async () => {
    const { data } = await client.POST('/app/api/sign-in/passkey/options')
    if (!data) return
    await client.POST('/app/api/sign-in/passkey', { body: { credential: await askForPasskey(data.data) } })
    onSignedIn()
  }
  return (
    <Stack gap="xs">
      <Button
        variant="default"
        leftSection={<IconKey size={16} aria-hidden />}
        loading={isBusy}
        disabled={obstacle !== null}
        onClick={() => run(signIn)}
      >
        Sign in with a passkey
      </Button>
      {obstacle && (
        <Text size="xs" c="dimmed">
          {obstacle}
        </Text>
      )}
      <FormProblem problem={problem} />
    </Stack>
  )
}
