# Runs once, when the volume is empty. The platform's user owns its database and isn't a superuser: its password doesn't open the
# server's files, and starts no programs there. The superuser signs in from inside of the container only.
psql --no-psqlrc --set ON_ERROR_STOP=1 --username postgres <<'SQL'
\getenv password POSTGRES_PASSWORD
CREATE ROLE platform LOGIN PASSWORD :'password';
CREATE DATABASE platform OWNER platform;
ALTER ROLE postgres PASSWORD NULL;
SQL
