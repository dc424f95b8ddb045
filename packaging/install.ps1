# Installs sluice __VERSION__ for whoever runs this: fetches the archive for this machine, verifies its checksum, puts the
# binary into %LOCALAPPDATA%\Programs\sluice (SLUICE_INSTALL names another folder). No administrator is needed.
$ErrorActionPreference = 'Stop'

$releases = if ($env:SLUICE_RELEASES) { $env:SLUICE_RELEASES } else { '__RELEASES__' }
$into = if ($env:SLUICE_INSTALL) { $env:SLUICE_INSTALL } else { Join-Path $env:LOCALAPPDATA 'Programs\sluice' }
$cpu = switch ($env:PROCESSOR_ARCHITECTURE) {
  'AMD64' { 'x64' }
  'ARM64' { 'arm64' }
  default { throw "There is no build for $env:PROCESSOR_ARCHITECTURE." }
}
$name = "sluice-__VERSION__-windows-$cpu"
$folder = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory -Path $folder | Out-Null
try {
  Invoke-WebRequest -UseBasicParsing "$releases/$name.zip" -OutFile "$folder/$name.zip"
  Invoke-WebRequest -UseBasicParsing "$releases/SHA256SUMS" -OutFile "$folder/SHA256SUMS"
  $line = Get-Content "$folder/SHA256SUMS" | Where-Object { $_.EndsWith("  $name.zip") } | Select-Object -First 1
  if (-not $line) { throw "SHA256SUMS does not name $name.zip. Nothing is installed." }
  $expected = $line.Split(' ')[0]
  $found = (Get-FileHash -Algorithm SHA256 "$folder/$name.zip").Hash.ToLowerInvariant()
  if ($expected -ne $found) { throw "The checksum of $name.zip is wrong: expected $expected, found $found. Nothing is installed." }
  Expand-Archive "$folder/$name.zip" -DestinationPath $folder
  New-Item -ItemType Directory -Force -Path $into | Out-Null
  Copy-Item -Force "$folder/$name/sluice.exe" "$into/sluice.exe"
} finally {
  Remove-Item -Recurse -Force $folder
}
Write-Output "sluice __VERSION__ is installed: $into\sluice.exe"
if (-not ($env:PATH.Split(';') -contains $into)) {
  Write-Output "Put the folder on your PATH: [Environment]::SetEnvironmentVariable('PATH', `"`$([Environment]::GetEnvironmentVariable('PATH', 'User'));$into`", 'User')"
}
Write-Output 'Try it: sluice demo'
