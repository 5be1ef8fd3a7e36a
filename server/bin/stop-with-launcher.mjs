// Loaded before a program that supervise.mjs runs. When the launcher ends, for any reason, the
// program stops as on SIGTERM.
if (process.env.SHIPLOCK_LAUNCHED && process.channel) {
  delete process.env.SHIPLOCK_LAUNCHED // the children of this program do not belong to the launcher
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}
