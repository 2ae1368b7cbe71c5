INSERT INTO oracle_hub.team (team) VALUES ({team}) ON CONFLICT DO NOTHING;
