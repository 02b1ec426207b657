import type { Command } from 'commander'
import type { RestoreFlags } from './backup/restore.ts'
import type { ScheduleFlags } from './backup/schedule.ts'
import type { BackupFlags } from './backup/take.ts'

/** Declares `assay backup` and `assay restore`. */
export function addBackup(program: Command, addConnection: (command: Command) => void): void {
  const backup = program
    .command('backup')
    .description('back up a running service, with the key of who owns all of its organizations')
    .argument(
      '<place>',
      'a folder, a file that ends in .tar, - for standard output, or s3://bucket/folder',
    )
    .option('--full', 'read everything, whatever there is of earlier backups')
    .option('--no-secrets', 'without keys, passwords and what opens secrets of users')
    .option('--mb-per-second <count>', 'read no faster than that')
    .option('--schedule <time>', 'go on, and take one whenever so much time has passed: 6h')
    .option('--archive <time>', 'with --schedule: save what is written between them, every 10s')
    .option('--keep <count>', 'with --schedule: leave as many backups, and remove older ones')
    .option('--full-every <time>', 'with --schedule: read everything once in that time: 30d')
    .addHelpText(
      'after',
      '\nA backup reads what was written since the one before. If it is ended, the next one goes on from there.\n' +
        'Exit codes: 0 all is in it; 1 some records are damaged in the service, or it could not be taken.',
    )
    .action(async (place: string, flags: BackupFlags | ScheduleFlags) => {
      if (!('schedule' in flags)) await (await import('./backup/take.ts')).runBackup(place, flags)
      else await (await import('./backup/schedule.ts')).runUntilStopped(place, flags)
    })
  addConnection(backup)
  backup
    .command('verify')
    .description('read all that backups consist of, and name what is damaged')
    .argument('<place>', 'where the backups are')
    .action(async (place: string) => (await import('./backup/verify.ts')).runVerify(place))
  backup
    .command('list')
    .description('list backups and archives')
    .argument('<place>', 'where the backups are')
    .action(async (place: string) => (await import('./backup/verify.ts')).runList(place))
  program
    .command('restore')
    .description('make a data directory from backups, for a service that is not running')
    .argument(
      '<place>',
      'where the backups are: a folder, a .tar file, - for standard input, or s3://bucket/folder',
    )
    .option('--data-dir <directory>', 'a folder that is empty or not there')
    .option('--to <moment>', 'a transaction (_xact_id) or a time; by default all that there is')
    .action(async (place: string, flags: RestoreFlags) =>
      (await import('./backup/restore.ts')).runRestore(place, flags),
    )
}
